"""Operators whose code is identical: every claim among them is false, so they tell what a claim is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from zlbench_core.campaign.looks import check_level
from zlbench_core.verdicts.judge import claim_beyond_margin, ready
from zlbench_core.verdicts.model import Evidence, OperatorVerdict

PLACEBO_LEVEL = 0.01


@dataclass(frozen=True)
class PlaceboCheck:
    """Claims among operators whose code is identical, against the exact binomial bound."""

    measured: int
    usable: int
    claims: int
    detected: int
    allowed: int
    alpha: float
    level: float

    @property
    def alarm(self) -> bool:
        return self.claims > self.allowed

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "alarm": self.alarm}


def check_placebos(
    placebos: Sequence[OperatorVerdict], alpha: float, level: float = PLACEBO_LEVEL
) -> PlaceboCheck:
    """Count the claims of measured placebos against the binomial bound.

    Under a fair design each placebo claims with probability <= alpha, independently (its own coins).
    `allowed` is the smallest c with P(more than c of n claims) <= level. Only placebos at a declared look
    with enough rounds are usable. A drift inside the rounds does not excuse a placebo. `detected` counts
    p <= alpha, below the margin too.
    """
    check_level("placebo level", level)
    measured = [evidence for verdict in placebos if (evidence := _evidence(verdict)) is not None]
    usable = [evidence for evidence in measured if ready(evidence)]
    detected = [evidence for evidence in usable if evidence.p <= alpha]
    claims = sum(claim_beyond_margin(evidence) is not None for evidence in detected)
    allowed = _allowed(len(usable), alpha, level) if usable else 0
    return PlaceboCheck(len(measured), len(usable), claims, len(detected), allowed, alpha, level)


def _allowed(usable: int, alpha: float, level: float) -> int:
    # scipy.stats takes a second to import: only a campaign with placebos pays for it.
    from scipy.stats import binom

    return int(binom.isf(level, usable, alpha))


def _evidence(verdict: OperatorVerdict) -> Evidence | None:
    return None if verdict.placebo is None else verdict.placebo.evidence
