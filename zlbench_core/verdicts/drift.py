"""A difference that grows while it is being measured is not yet a difference between the two codes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from zlbench_core.verdicts.signflip import sign_flip_p

DRIFT_ALPHA = 0.05
FEWEST_ROUNDS = 6  # as for a claim; of fewer nothing is said


def drift_complaint(spans: Sequence[float], theta: float, margin: float) -> str | None:
    """A sentence when the sides drift apart inside the rounds by as much as the effect, else None.

    A drift of the device hits both sides and cancels in ABBA; one that hits one side only (a leak, a slow
    warm-up, a cache that fills) does not. Complains when the spans of the rounds, as `rounds.round_span`
    gives them, have one direction (sign-flip p <= 0.05) and their mean is at least max(|theta|, margin), in
    log units. It can only withhold a verdict, never make one.
    """
    if not spans or sign_flip_p(spans) > DRIFT_ALPHA:
        return None
    span = math.fsum(spans) / len(spans)
    if abs(span) < max(abs(theta), margin):
        return None
    return f"the sides drift apart by {math.expm1(abs(span)):.2%} inside a round: not stationary"


def trend_complaint(log_ratios: Sequence[float | None], theta: float, margin: float) -> str | None:
    """A sentence when the sides drift apart from round to round by as much as the effect, else None.

    ABBA within a round cannot cancel what only one side gains over the campaign. Complains when the rounds go one
    way (Mann-Kendall, normal approximation with continuity correction, p <= 0.05; Mann 1945, Kendall 1975) and
    their least squares line moves by at least max(|theta|, margin), in log units. It can only withhold a verdict.
    """
    points = [(number, value) for number, value in enumerate(log_ratios) if value is not None]
    if len(points) < FEWEST_ROUNDS or _mann_kendall_p([value for _, value in points]) > DRIFT_ALPHA:
        return None
    centre = math.fsum(number for number, _ in points) / len(points)
    spread = math.fsum((number - centre) ** 2 for number, _ in points)
    slope = math.fsum((number - centre) * value for number, value in points) / spread
    moved = slope * (points[-1][0] - points[0][0])
    if abs(moved) < max(abs(theta), margin):
        return None
    return f"the sides drift apart by {math.expm1(abs(moved)):.2%} over the rounds: not stationary"


def _mann_kendall_p(values: Sequence[float]) -> float:
    count = len(values)
    pairs = [(later > earlier) - (later < earlier) for earlier, later in combinations(values, 2)]
    variance = count * (count - 1) * (2 * count + 5) / 18
    return math.erfc(max(0, abs(sum(pairs)) - 1) / math.sqrt(2 * variance))
