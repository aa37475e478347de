"""The functions that stand in the place of upstream's timers."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from zlbench_core.timing.callers import called_by_tuner
from zlbench_core.timing.capture import TuningInsideCapture, is_capturing
from zlbench_core.timing.guards import RngGuard
from zlbench_core.timing.samples import TimedRequest
from zlbench_core.timing.session import TimingSession

Bench = Callable[..., Any]


def timed_do_bench(session: TimingSession, original: Bench) -> Bench:
    """triton.testing.do_bench for benchmarks; tuners and nested calls get the original."""

    def do_bench(
        fn: Callable[[], Any],
        warmup: float = 25,
        rep: float = 100,
        grad_to_none: Sequence[Any] | None = None,
        quantiles: Sequence[float] | None = None,
        return_mode: str = "mean",
    ) -> Any:
        return session.time(TimedRequest(fn, warmup, rep, grad_to_none, quantiles, return_mode))

    return _for_benchmarks(session, original, do_bench)


def timed_do_bench_cudagraph(session: TimingSession, original: Bench) -> Bench:
    """triton.testing.do_bench_cudagraph likewise: a row that refuses capture falls back and says so."""

    def do_bench_cudagraph(
        fn: Callable[[], Any],
        rep: float = 20,
        grad_to_none: Sequence[Any] | None = None,
        quantiles: Sequence[float] | None = None,
        return_mode: str = "mean",
    ) -> Any:
        request = TimedRequest(
            fn, rep=rep, grad_to_none=grad_to_none, quantiles=quantiles, return_mode=return_mode
        )
        return session.time(request)

    return _for_benchmarks(session, original, do_bench_cudagraph)


def timed_own(session: TimingSession, original: Bench) -> Bench:
    """A vendor's own timer, called as it is called; what it returns is recorded under its name."""

    @functools.wraps(original)
    def own(*args: Any, **options: Any) -> Any:
        if session.busy:
            return original(*args, **options)
        return session.time_own(original.__name__, lambda: original(*args, **options))

    return own


def _for_benchmarks(session: TimingSession, original: Bench, timed: Bench) -> Bench:
    @functools.wraps(original)
    def entry(*args: Any, **options: Any) -> Any:
        if called_by_tuner():
            return _tune(session, original, args, options)
        if session.busy:
            return original(*args, **options)
        return timed(*args, **options)

    return entry


def _tune(session: TimingSession, original: Bench, args: Any, options: Any) -> Any:
    interface = session.timers.interface()
    if is_capturing(interface):
        raise TuningInsideCapture("a tuner met a key for the first time inside a graph capture")
    guard = RngGuard(interface)
    try:
        return original(*args, **options)
    except BaseException:
        guard.restore()
        raise


def compile_only(original: Bench) -> Bench:
    """With ZL_MEASURE=0: call once, so that kernels compile, and measure nothing.

    A tuner gets zeros, which order its configs and are no measurement; a benchmark gets nan.
    """

    @functools.wraps(original)
    def entry(fn: Callable[[], Any], *_: Any, quantiles: Sequence[float] | None = None, **__: Any) -> Any:
        fn()
        nothing = 0.0 if called_by_tuner() else math.nan
        return nothing if quantiles is None else [nothing] * len(quantiles)

    return entry
