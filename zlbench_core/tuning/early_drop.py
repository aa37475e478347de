"""The rule by which a config that cannot win is not timed in full. Pure.

Every config is first timed by a few launches, those near the best by a few more. One whose quick time is more
than `MARGIN` above the best quick time, beyond what the timer can resolve, is dropped; the others go through
the tuner's own protocol. In two records of mm on one H200 (mm1 and mm2 of tests/data/flaggems-h200; 8 keys) the
one's winner stood at most 3 % above the other's best, but for a kernel of 3.5 microseconds: 31 %, which is 1
microsecond.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from zlbench_core.pins.near_ties import EVENT_RESOLUTION_MS

MARGIN = 0.15
# A pair of events around one launch: either end may be off by the timer's resolution.
NOISE_MS = 2 * EVENT_RESOLUTION_MS
KEEP_AT_LEAST = 3

Config = TypeVar("Config")


def limit_ms(best_ms: float) -> float:
    """The slowest quick time, in milliseconds, that still may win against `best_ms`."""
    return best_ms * (1 + MARGIN) + NOISE_MS


def contenders(order: Sequence[Config], quick_ms: Mapping[Config, float]) -> list[Config]:
    """Those of `order` that more launches may still bring within the limit: up to half as slow again as it allows."""
    finite = {config: ms for config, ms in quick_ms.items() if math.isfinite(ms)}
    limit = 1.5 * limit_ms(min(finite.values(), default=0.0))
    return [config for config in order if finite.get(config, math.inf) <= limit]


def survivors(
    order: Sequence[Config], quick_ms: Mapping[Config, float], too_long: Collection[Config] = ()
) -> list[Config]:
    """Those of `order` that go on, in its order: all within the limit, and at least the fastest three.

    Those whose quick time is known to be `too_long` (quick_pass.py: late) go on too: it says nothing against them.
    When no quick time is finite nothing can win; the first goes on, so that the tuner finds that out itself.
    """
    ranked = sorted(
        (ms, place) for place, config in enumerate(order) if math.isfinite(ms := quick_ms[config])
    )
    if not ranked:
        return list(order[:1])
    limit = limit_ms(ranked[0][0])
    kept = {place for rank, (ms, place) in enumerate(ranked) if ms <= limit or rank < KEEP_AT_LEAST}
    return [config for place, config in enumerate(order) if place in kept or config in too_long]
