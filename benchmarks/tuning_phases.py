"""A pytest plugin for h200_tuning.py: records keep every config's time, and the log tells how long a key took
until its configs were compiled and quickly timed."""

from __future__ import annotations

import time
from typing import Any

from zlbench_core.autotune import recorder
from zlbench_core.autotune.compile_ahead import Ahead

ALL = 10_000


def pytest_configure() -> None:
    recorder.RUNNERS_UP = recorder.NEAR_TIES = ALL
    prepare = Ahead.prepare

    def timed(ahead: Ahead, *args: Any) -> Any:
        started = time.perf_counter()
        kept, dropped = prepare(ahead, *args)
        spent = time.perf_counter() - started
        print(f"TUNING_PHASE ready after {spent:.2f} s, {len(kept)} to be timed in full", flush=True)
        return kept, dropped

    Ahead.prepare = timed
