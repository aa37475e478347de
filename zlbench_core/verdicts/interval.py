"""Mean, interval and margin on the log scale, where B/A and A/B are mirror images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from zlbench_core.errors import ConfigError

SMALLEST_DELTA = 0.005
TICK_MS = 32e-6  # the step of the event clock that the margin assumes: 32 ns (docs/verdicts.md, Why)
# z(.975) + z(.80) = 2.80; 3.0 pays for t instead of z (docs/verdicts.md, Why).
ROUNDS_FACTOR = 3.0
# More rounds than this are no plan: the effect lies on the margin, or the row is too noisy.
MOST_NEEDED = 1000


@dataclass(frozen=True)
class Effect:
    """log(B/A) over some rounds: its estimate, the standard deviation of one round, and the standard error of the
    estimate with its degrees of freedom; None where the rounds are too few. `first_side`: log(first / second), what
    the side that was launched first gained or lost, where that is known and was taken out."""

    theta: float | None = None
    sd: float | None = None
    error: float | None = None
    freedom: int = 0
    first_side: float | None = None

    def interval(self, alpha: float) -> tuple[float, float] | None:
        """The two-sided t interval theta +- t_{freedom, 1-alpha/2} error, at confidence 1 - alpha."""
        if self.theta is None or self.error is None:
            return None
        half = _quantile(self.freedom, alpha) * self.error
        return self.theta - half, self.theta + half


@lru_cache(maxsize=1024)  # all rows of a campaign ask for the same few
def _quantile(freedom: int, alpha: float) -> float:
    # scipy is slow to import: only a step that judges pays for it.
    from scipy.special import stdtrit

    return -float(stdtrit(freedom, alpha / 2))


def effect_of(values: Sequence[float], firsts: Sequence[str | None] = ()) -> Effect:
    """The effect over rounds whose log(B/A) are `values`; `firsts`: the side that was launched first in each.

    Where every round tells its first side and each side was first, the two orders are two groups (the analysis of a
    crossover trial: Jones & Kenward 2014, section 2.3): the effect is the mean of their means, which an advantage of
    the first side does not move, and a round's spread is that within them, n - 2 degrees of freedom. Else it is the
    plain mean, with n - 1. Sums are correctly rounded: the order of the rounds is nothing.
    """
    if not values:
        return Effect()
    groups = [
        [value for value, first in zip(values, firsts, strict=bool(firsts)) if first == side] for side in "ab"
    ]
    apart = len(values) > 2 and all(groups) and sum(map(len, groups)) == len(values)
    groups = groups if apart else [list(values)]
    means = [math.fsum(group) / len(group) for group in groups]
    theta, freedom = math.fsum(means) / len(means), len(values) - len(groups)
    if not freedom:
        return Effect(theta)
    squares = [(value - mean) ** 2 for group, mean in zip(groups, means, strict=True) for value in group]
    sd = math.sqrt(math.fsum(squares) / freedom)
    error = sd * math.sqrt(math.fsum(1 / len(group) for group in groups)) / len(groups)
    return Effect(theta, sd, error, freedom, (means[1] - means[0]) / 2 if apart else None)


def resolution(t_a_ms: float, t_b_ms: float, batch: int = 1) -> float:
    """One clock step as a share of the latency, when `batch` launches stand between two clock readings.

    The latency is the geometric mean of both sides, so that swapping the sides changes nothing.
    """
    return TICK_MS / (batch * math.sqrt(t_a_ms * t_b_ms))


def delta_of(resolutions: Sequence[float], declared: float | None) -> float:
    """The smallest relative difference worth a claim: max(0.5%, two clock steps, what was declared).

    For an operator the clock's part is the mean over its rows, as in the effect itself.
    Raises ConfigError for a declared value that is not between 0 and 1.
    """
    if declared is not None and not 0 < declared < 1:
        raise ConfigError(f"delta is {declared}; a share between 0 and 1 is expected, such as 0.01")
    share = 1 / len(resolutions)
    clock = math.fsum(2 * step * share for step in resolutions)
    return max(SMALLEST_DELTA, clock, declared or 0.0)


def margin(delta: float) -> float:
    """delta on the log scale: the ratios 1 + delta and 1 / (1 + delta) lie at the same distance from 1."""
    return math.log1p(delta)


def rounds_needed(theta: float, sd: float, delta: float) -> int | None:
    """n' = ceil((3 sd / gap)^2), gap = the distance from the effect to the margin; None above 1,000 rounds.

    With no effect at all the gap is delta, which is the textbook formula (docs/verdicts.md, Why).
    """
    gap = abs(abs(theta) - margin(delta))
    if ROUNDS_FACTOR * sd > gap * math.sqrt(MOST_NEEDED):
        return None
    return 0 if sd == 0 else math.ceil((ROUNDS_FACTOR * sd / gap) ** 2)
