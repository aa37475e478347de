"""Timings of one key's configs: which one won, and which others cannot be told from it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

# cudaEventElapsedTime resolves about 0.5 microseconds (CUDA runtime API, Event Management).
EVENT_RESOLUTION_MS = 0.0005
# Two records of mm on one H200 (mm1 and mm2 of tests/data/flaggems-h200): the middle of 162 configs moved by up to
# 2.3 % a key.
RELATIVE_NOISE = 0.02


@dataclass(frozen=True, order=True)
class Timing:
    """Median and the 20th and 80th percentile in milliseconds; ordered as the tuners order them."""

    p50: float
    p20: float
    p80: float

    @classmethod
    def of(cls, raw: Any) -> Timing:
        """From what a tuner keeps: one number, or a list that starts with the median."""
        values = [float(raw)] if isinstance(raw, int | float) else [float(value) for value in raw]
        return cls(*values[:3]) if len(values) >= 3 else cls(values[0], values[0], values[0])

    @property
    def finite(self) -> bool:
        return math.isfinite(self.p50)

    @property
    def spread(self) -> float:
        width = self.p80 - self.p20
        return width if math.isfinite(width) else 0.0


@dataclass(frozen=True)
class Timed:
    config: Any
    timing: Timing


def noise_ms(best: Timing, other: Timing) -> float:
    """How far apart two medians may be and still be the same, in milliseconds.

    The largest of: the timer's resolution, 2 % of the better median, and either config's own 20-80 % spread.
    """
    return max(EVENT_RESOLUTION_MS, RELATIVE_NOISE * best.p50, best.spread, other.spread)


def within_noise(best: Timing, other: Timing) -> bool:
    return other.finite and other.p50 - best.p50 <= noise_ms(best, other)


def ranking(timed: Iterable[Timed]) -> list[Timed]:
    """The finite ones, fastest first; of equals the one that was timed first."""
    return sorted((one for one in timed if one.timing.finite), key=lambda one: one.timing)


def near_ties(ranked: list[Timed]) -> list[Timed]:
    """Those behind the first of a ranking that are within noise of it."""
    return [one for one in ranked[1:] if within_noise(ranked[0].timing, one.timing)]
