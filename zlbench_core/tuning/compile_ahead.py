"""Before a key is timed: compile all its configs at once, and drop those that cannot win (early_drop.py).

Quick times overlap with the compilation of other configs, of the key's own and of the next data type's; the
tuner's own protocol starts when the key's are compiled. `ZL_TUNE_EARLY_DROP=0` times every config in full.
"""

from __future__ import annotations

import inspect
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from zlbench_core.errors import ConfigError
from zlbench_core.pins.keys import kernel_id
from zlbench_core.pins.near_ties import Timed, Timing
from zlbench_core.records.run_env import COMPILE_POOL, COMPILE_PREFETCH, COMPILE_THREADS, EARLY_DROP
from zlbench_core.tuning.early_drop import contenders, survivors
from zlbench_core.tuning.fork_pool import ForkExecutor
from zlbench_core.tuning.prefetch import Prefetch, shared_mode
from zlbench_core.tuning.quick_pass import COLD, QuickTimer, cache_policy, make_timer, quick_ms

POOLS = ("fork", "threads")


@dataclass(frozen=True)
class Settings:
    """workers below 2 compile serially, as the tuner meets the configs."""

    workers: int
    pool: str
    early_drop: bool
    prefetch: bool = True

    @classmethod
    def read(cls, environ: Mapping[str, str] = os.environ) -> Settings:
        threads = environ.get(COMPILE_THREADS)
        pool = environ.get(COMPILE_POOL) or ("fork" if sys.platform == "linux" else "threads")
        if pool not in POOLS:
            raise ConfigError(f"{COMPILE_POOL} is {pool!r}; {' or '.join(POOLS)} is expected")
        if threads and not threads.isdecimal():
            raise ConfigError(f"{COMPILE_THREADS} is {threads!r}; a number of threads is expected")
        return cls(
            workers=int(threads) if threads else os.cpu_count() or 1,
            pool=pool,
            early_drop=environ.get(EARLY_DROP) != "0",
            prefetch=environ.get(COMPILE_PREFETCH) != "0",
        )

    @property
    def prefetches(self) -> bool:
        return self.prefetch and self.pool == "fork" and self.workers > 1 and _async_mode() is not None

    @property
    def children(self) -> int:
        """One core stays free for the timing that goes on meanwhile."""
        return max(1, self.workers - 1)


class Ahead:
    """Shortens the list of configs that a tuner is about to time."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.prefetch = Prefetch(settings.children, _forget_listener)
        self._timers: dict[bool, QuickTimer | None] = {}
        self._before: dict[str, dict[Any, float]] = {}  # by kernel: the quick times of the key before

    def prepare(
        self, tuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], configs: list[Any]
    ) -> tuple[list[Any], list[Timed]]:
        """Compile `configs`; returns those that the tuner is to time in full, and those dropped."""
        if len(configs) < 2 or goes_its_own_way(tuner):
            return configs, []
        quick, too_long = self._quick(tuner, args, kwargs, configs)
        if not quick:
            return configs, []
        if hasattr(tuner, "seen_tuned_metas"):
            tuner.seen_tuned_metas = {}  # FlagTree answers a config that it has timed in this run from here
        kept = survivors(configs, quick, too_long)
        held = {id(config) for config in kept}
        dropped = [config for config in configs if id(config) not in held]
        return kept, [Timed(config, Timing.of(quick[config])) for config in dropped]

    def _quick(
        self, tuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], configs: list[Any]
    ) -> tuple[dict[Any, float], set[Any]]:
        """Quick times in milliseconds, taken as the configs get ready; of those near the best, or that were timed
        too late, once more when nothing of the key compiles any longer. And those that are too long even so.
        Empty where the device or the tuner admits none."""
        timer = self._timer(tuner)
        quick: dict[Any, float] = {}
        too_long: set[Any] = set()
        likely = best_first(configs, self._before.get(kernel_id(tuner), {}))
        with compiled(tuner, args, kwargs, likely, self.settings, self.prefetch) as ready:
            if self.settings.prefetches:
                self.prefetch.start(tuner, args, kwargs, largest_first(configs), partial(warm_up, tuner))
            if timer is None:
                return {}, set()
            for config in ready:
                best = min(quick.values(), default=float("inf"))
                timer.late = False  # a config that the tuner refuses is not timed
                bench = partial(timer.measure, best_ms=best)
                quick[config] = quick_ms(tuner, args, kwargs, config, bench)
                if timer.late:
                    too_long.add(config)
        near = set(contenders(configs, quick))
        for config in [one for one in configs if one in near or one in too_long]:
            bench = partial(timer.measure_again, quick_ms=quick[config])
            again = quick_ms(tuner, args, kwargs, config, bench)
            quick[config] = min(quick[config], again)
            if not timer.late:
                too_long.discard(config)
        self._before[kernel_id(tuner)] = quick
        return quick, too_long

    def _timer(self, tuner: Any) -> QuickTimer | None:
        policy = cache_policy(tuner) if self.settings.early_drop else None
        if policy is None:
            return None
        cold = policy == COLD
        if cold not in self._timers:
            self._timers[cold] = make_timer(cold)
        return self._timers[cold]


def goes_its_own_way(tuner: Any) -> bool:
    """Whether the tuner is not to be helped: a cost model proposes other configs than it lists, Triton's disk
    cache of timings, which is named by that list, may answer, or it compiles and times in batches (Ascend)."""
    mode = getattr(getattr(tuner, "_flagtune_mode", None), "value", None)
    batches = hasattr(tuner, "_batch_bench")
    return mode == "cost_model" or batches or bool(getattr(tuner, "cache_results", False))


@contextmanager
def compiled(
    tuner: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    configs: list[Any],
    settings: Settings,
    prefetch: Prefetch | None = None,
) -> Iterator[Iterator[Any]]:
    """Iterate over `configs`: those that are compiled already in their own order, the others as they get ready; all
    are compiled when the block ends.

    Without an asynchronous mode in the installed Triton, or with one worker, they come in their own order and
    compile where they are first launched.
    """
    mode = _async_mode()
    if mode is None or settings.workers < 2:
        yield iter(configs)
        return
    executor = make_executor(settings)
    mode = mode if prefetch is None else shared_mode(mode, prefetch)
    with mode(executor, ignore_errors=True):
        futures: dict[Future[Any] | None, list[Any]] = {}
        try:
            for config in largest_first(configs):
                future = _future(partial(warm_up, tuner, args, kwargs, config))
                futures.setdefault(future, []).append(config)
            if isinstance(executor, ForkExecutor):
                executor.start()
            yield _as_ready(futures, configs, executor, prefetch)
        finally:
            # The mode waits for all that was submitted, whatever ends this block.
            executor.shutdown()
            for _ in _settled(futures, executor, prefetch):
                pass


def best_first(configs: list[Any], before: Mapping[Any, float]) -> list[Any]:
    """What was fast for another key of the kernel in front: against a good best, the hopeless show at once."""
    return sorted(configs, key=lambda config: before.get(config, math.inf))


def largest_first(configs: list[Any]) -> list[Any]:
    """The slowest to compile in front, so that no worker starts on it when the others have nothing left.

    Compilation grows with the tile, for which the product of the meta-parameters stands.
    """

    def weight(config: Any) -> int:
        return math.prod(value for value in config.kwargs.values() if type(value) is int and value > 0)

    return sorted(configs, key=weight, reverse=True)


def _future(warm: Callable[[], Any]) -> Future[Any] | None:
    """The compilation under way, or None when there is none: compiled before, or refused already.

    A refusal is raised again where the tuner times the config, and is the tuner's to judge.
    """
    try:
        return getattr(warm(), "future", None)
    except Exception:
        return None


def _as_ready(
    futures: dict[Future[Any] | None, list[Any]],
    configs: list[Any],
    executor: Executor,
    prefetch: Prefetch | None,
) -> Iterator[Any]:
    at_once = set(futures.get(None, []))
    yield from (config for config in configs if config in at_once)
    for future in _settled(futures, executor, prefetch):
        yield from futures.get(future, [])


def _settled(
    futures: Iterable[Future[Any] | None], executor: Executor, prefetch: Prefetch | None
) -> Iterator[Future[Any]]:
    own = [one for one in futures if one is not None]
    if isinstance(executor, ForkExecutor):
        yield from executor.settled()
    else:
        yield from as_completed(own)
    if prefetch is not None:
        yield from prefetch.settled(own)


def warm_up(tuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], config: Any) -> Any:
    """Compile one config without launching it. Its own hook runs first, since it may set what the signature
    depends on (a tensor descriptor's block); the tuner's hooks guard contents and are not needed."""
    current = {**kwargs, **config.all_kwargs()}
    if config.pre_hook is not None:
        config.pre_hook({**dict(zip(tuner.arg_names, args, strict=False)), **current})
    return tuner.fn.run(*args, **{**current, "warmup": True})


def make_executor(settings: Settings) -> Executor:
    if settings.pool == "threads":
        return ThreadPoolExecutor(settings.workers)
    return ForkExecutor(settings.children, _forget_listener)


def _forget_listener() -> None:
    """In a child: what listens to compilations hears of them in the parent."""
    from triton import knobs

    knobs.compilation.listener = None


def _async_mode() -> Any | None:
    """Triton's AsyncCompileMode, where the installed one can be told to keep errors for the launch."""
    try:
        from triton.runtime._async_compile import AsyncCompileMode
    except ImportError:
        return None
    return AsyncCompileMode if "ignore_errors" in inspect.signature(AsyncCompileMode).parameters else None
