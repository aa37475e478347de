"""Before a key is timed: compile all its configs at once and, where that is asked for, drop the hopeless.

Quick times overlap with the compilation of other configs; the tuner's own protocol starts when all are done.
Dropping is off by default: on an H200 one of 12 keys of mm lost its winner, for one twice as slow (docs/tuning.md).
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from zlbench_core.autotune.early_drop import survivors
from zlbench_core.autotune.fork_pool import ForkExecutor
from zlbench_core.autotune.near_ties import Timed, Timing
from zlbench_core.autotune.quick_pass import COLD, QuickTimer, cache_policy, make_timer, quick_ms
from zlbench_core.errors import ConfigError
from zlbench_core.run_env import COMPILE_THREADS

COMPILE_POOL = "ZL_COMPILE_POOL"
EARLY_DROP = "ZL_TUNE_EARLY_DROP"
POOLS = ("fork", "threads")


@dataclass(frozen=True)
class Settings:
    """workers below 2 compile serially, as the tuner meets the configs."""

    workers: int
    pool: str
    early_drop: bool

    @classmethod
    def read(cls, environ: Mapping[str, str] = os.environ) -> Settings:
        threads = environ.get(COMPILE_THREADS)
        pool = environ.get(COMPILE_POOL) or ("fork" if sys.platform == "linux" else "threads")
        if pool not in POOLS:
            raise ConfigError(f"{COMPILE_POOL} is {pool!r}; {' or '.join(POOLS)} is expected")
        if threads and not threads.isdecimal():
            raise ConfigError(f"{COMPILE_THREADS} is {threads!r}; a number of threads is expected")
        return cls(int(threads) if threads else os.cpu_count() or 1, pool, environ.get(EARLY_DROP) == "1")


class Ahead:
    """Shortens the list of configs that a tuner is about to time."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._timers: dict[bool, QuickTimer | None] = {}

    def prepare(
        self, tuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], configs: list[Any]
    ) -> tuple[list[Any], list[Timed]]:
        """Compile `configs`; returns those that the tuner is to time in full, and those dropped."""
        if len(configs) < 2 or goes_its_own_way(tuner):
            return configs, []
        timer = self._timer(tuner)
        quick: dict[Any, float] = {}
        with compiled(tuner, args, kwargs, configs, self.settings) as ready:
            for config in ready:
                if timer is not None:
                    best = min(quick.values(), default=float("inf"))
                    quick[config] = quick_ms(
                        tuner, args, kwargs, config, lambda launch, best=best: timer.measure(launch, best)
                    )
        if timer is None:
            return configs, []
        if hasattr(tuner, "seen_tuned_metas"):
            tuner.seen_tuned_metas = {}  # FlagTree answers a config that it has timed in this run from here
        kept = survivors(configs, quick)
        held = {id(config) for config in kept}
        dropped = [config for config in configs if id(config) not in held]
        return kept, [Timed(config, Timing.of(quick[config])) for config in dropped]

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
    tuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], configs: list[Any], settings: Settings
) -> Iterator[Iterator[Any]]:
    """Iterate over `configs` in the order in which they are compiled; all are when the block ends.

    Without an asynchronous mode in the installed Triton, or with one worker, they come in their own order and
    compile where they are first launched.
    """
    mode = _async_mode()
    if mode is None or settings.workers < 2:
        yield iter(configs)
        return
    executor = make_executor(settings)
    with executor, mode(executor, ignore_errors=True):
        futures: dict[Future[Any] | None, list[Any]] = {}
        try:
            for config in configs:
                future = _future(lambda config=config: warm_up(tuner, args, kwargs, config))
                futures.setdefault(future, []).append(config)
        finally:
            # The mode waits for what was submitted, whatever ends this block.
            if isinstance(executor, ForkExecutor):
                executor.start()
        yield _as_ready(futures)


def _future(warm: Callable[[], Any]) -> Future[Any] | None:
    """The compilation under way, or None when there is none: compiled before, or refused already.

    A refusal is raised again where the tuner times the config, and is the tuner's to judge.
    """
    try:
        return getattr(warm(), "future", None)
    except Exception:
        return None


def _as_ready(futures: dict[Future[Any] | None, list[Any]]) -> Iterator[Any]:
    yield from futures.pop(None, [])
    for future in as_completed([one for one in futures if one is not None]):
        yield from futures[future]


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
    # One core stays free for the timing that goes on meanwhile.
    return ForkExecutor(max(1, settings.workers - 1), _forget_listener)


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
