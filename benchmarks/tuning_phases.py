"""A pytest plugin for h200_tuning.py: records keep every config's time, and the log tells how long a key took
until its configs were compiled and quickly timed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from zlbench_core.tuning import recorder
from zlbench_core.tuning.compile_ahead import Ahead
from zlbench_core.tuning.fork_pool import ForkExecutor
from zlbench_core.tuning.prefetch import Prefetch

ALL = 10_000


def pytest_configure() -> None:
    recorder.RUNNERS_UP = recorder.NEAR_TIES = ALL
    tell(Ahead, "prepare", lambda result: f"ready, {len(result[0])} to be timed in full,")
    tell(Prefetch, "start", lambda result: "begun for the coming types")
    tell(ForkExecutor, "start", lambda result: "children forked")


def tell(cls: type, name: str, what: Callable[[Any], str]) -> None:
    """Print how long each call of a method took."""
    inner = getattr(cls, name)

    def timed(*args: Any, **kwargs: Any) -> Any:
        started = time.perf_counter()
        result = inner(*args, **kwargs)
        print(f"TUNING_PHASE {what(result)} after {time.perf_counter() - started:.2f} s", flush=True)
        return result

    setattr(cls, name, timed)
