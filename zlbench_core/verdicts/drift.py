"""A difference that grows while it is being measured is not yet a difference between the two codes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from zlbench_core.verdicts.signflip import sign_flip_p

DRIFT_ALPHA = 0.05


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
