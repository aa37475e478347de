"""ZL_MEASURE=0: every launch compiles its kernel and then does nothing, whatever driver is active."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class NoLaunch:
    """A launcher that takes any call and does nothing."""

    def __init__(self, src: Any, metadata: Any) -> None:
        pass

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        pass


def disable_launches(driver: Any = None) -> None:
    """Make every kernel launched through a Triton driver (None: the active one) compile only. Idempotent."""
    if driver is None:
        from triton.runtime import driver as drivers

        driver = drivers.active
    driver.launcher_cls = NoLaunch
    driver.get_benchmarker = lambda: compile_candidate


def compile_candidate(call: Callable[[], Any], *, quantiles: Sequence[float] | None = None, **_: Any) -> Any:
    """Compile one tuner candidate. Its time is 0.0, which no reader takes for a measurement."""
    call()
    return 0.0 if quantiles is None else [0.0] * len(quantiles)
