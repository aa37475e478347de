"""The direct timer: event pairs around each launch, or around batches where launches are too short."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from zlbench_core.timing.samples import DIRECT, NoMeasurement, Samples, TimedRequest

# Events tick every 32 ns on an H200. Below 32 ticks a tick is over 3% of a launch: then batches are timed.
SHORT_MS = 32 * 32e-6
# 0.1 ms is 3125 ticks: the tick is 0.03% of a batch.
BATCH_MS = 0.1
MAX_BATCH = 1 << 20
MIN_BATCHES, MAX_BATCHES = 10, 100


def parse_repeat(text: str | None) -> int:
    """How often ZL_DIRECT_REPEAT says to repeat; whatever is no positive whole number means 1."""
    try:
        return max(1, int(text or 1))
    except ValueError:
        return 1


def repeated(call: Callable[[], Any], times: int) -> Any:
    """The median of `times` calls. A sequence is no single latency: the first call's is returned."""
    first = call()
    if times == 1 or hasattr(first, "__len__"):
        return first
    return statistics.median([first, *(call() for _ in range(times - 1))])


def measure_direct(
    bench: Callable[..., Sequence[float]], interface: ModuleType | Any, request: TimedRequest, flushes: bool
) -> Samples:
    """Time one call with `bench` (upstream's do_bench, which gives every sample), else in batches.

    `flushes`: whether the active driver's clear_cache really empties the device's cache before each launch.
    """
    values = _upstream_samples(bench, request)
    if any(value == 0 for value in values) or statistics.median(values) < SHORT_MS:
        return measure_batches(interface, request)
    return Samples(DIRECT, values, flush_l2=flushes)


def _upstream_samples(bench: Callable[..., Sequence[float]], request: TimedRequest) -> tuple[float, ...]:
    try:
        found = bench(request.fn, request.warmup, request.rep, request.grad_to_none, None, "all")
    except ZeroDivisionError as error:
        if not _raised_by_upstream(error):
            raise
        return (0.0,)  # upstream divides its budget by an estimate that fell below one tick
    return tuple(float(value) for value in found)


def _raised_by_upstream(error: BaseException) -> bool:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals.get("__name__") == "triton.testing"


def measure_batches(interface: ModuleType | Any, request: TimedRequest) -> Samples:
    """ms per call, from batches long enough for the events. The cache stays warm inside a batch.

    Raises NoMeasurement where even the largest batch takes no time.
    """
    batch = 1
    while (elapsed := _batch_ms(interface, request, batch)) < BATCH_MS:
        if batch >= MAX_BATCH:
            raise NoMeasurement(f"no measurement: {batch} calls take {elapsed} ms on the events' clock")
        batch *= 2
    for _ in range(_count(request.warmup, elapsed)):
        _batch_ms(interface, request, batch)
    values = [_batch_ms(interface, request, batch) / batch for _ in range(_count(request.rep, elapsed))]
    return Samples(DIRECT, tuple(values), flush_l2=False, batch=batch)


def _count(budget_ms: float, batch_ms: float) -> int:
    return min(MAX_BATCHES, max(MIN_BATCHES, int(budget_ms / batch_ms)))


def _batch_ms(interface: ModuleType | Any, request: TimedRequest, batch: int) -> float:
    start, end = interface.Event(enable_timing=True), interface.Event(enable_timing=True)
    start.record()
    for _ in range(batch):
        clear_gradients(request)
        request.fn()
    end.record()
    interface.synchronize()
    return start.elapsed_time(end)


def clear_gradients(request: TimedRequest) -> None:
    for tensor in request.grad_to_none or ():
        tensor.grad = None
