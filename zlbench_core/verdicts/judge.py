"""From evidence to a verdict. The one place where FASTER, SLOWER, SAME and UNDECIDED are told apart."""

from __future__ import annotations

import math
from dataclasses import dataclass

from zlbench_core.campaign.looks import minimum_rounds
from zlbench_core.verdicts.interval import MOST_NEEDED, margin, rounds_needed
from zlbench_core.verdicts.model import Evidence
from zlbench_core.verdicts.words import Verdict


@dataclass(frozen=True)
class Judgement:
    verdict: Verdict
    detail: str = ""
    rounds_needed: int | None = None


def judge(evidence: Evidence, p: float) -> Judgement:
    """The verdict at p, which is the evidence's own or one adjusted for a family.

    FASTER or SLOWER: p <= alpha and the interval lies beyond the margin. SAME: the interval of the two
    one-sided tests lies inside the margin (Schuirmann 1987). Else UNDECIDED with the rounds needed.
    """
    withheld = _too_early(evidence)
    if withheld is not None:
        return withheld
    if evidence.drift is not None:
        return Judgement(Verdict.UNDECIDED, evidence.drift)
    detected = p <= evidence.looks.alpha
    claim = claim_beyond_margin(evidence)
    if detected and claim is not None:
        return Judgement(claim)
    limit = margin(evidence.delta)
    assert evidence.same_ci is not None, "rounds that can claim something are at least two"
    low, high = evidence.same_ci
    if -limit < low and high < limit:
        return Judgement(Verdict.SAME, "detected, below delta" if detected else "")
    needed = _needed(evidence)
    details = [_open_detail(evidence, detected, p), "" if needed else f"over {MOST_NEEDED} rounds needed"]
    return Judgement(Verdict.UNDECIDED, ", ".join(filter(None, details)), needed)


def claim_beyond_margin(evidence: Evidence) -> Verdict | None:
    """FASTER or SLOWER when the interval at 1 - alpha lies wholly beyond the margin, whatever p says."""
    if evidence.ci is None:
        return None
    limit = margin(evidence.delta)
    low, high = evidence.ci
    if high < -limit:
        return Verdict.FASTER
    return Verdict.SLOWER if low > limit else None


def ready(evidence: Evidence) -> bool:
    """Whether a claim is possible at all: a declared look, with enough rounds that count."""
    return _too_early(evidence) is None


def _too_early(evidence: Evidence) -> Judgement | None:
    looks, run = evidence.looks, evidence.rounds_run
    fewest = minimum_rounds(looks.alpha)
    if run < looks.at_least:
        return Judgement(Verdict.UNDECIDED, f"{run} of at least {looks.at_least} rounds", looks.at_least)
    if evidence.rounds < fewest:
        detail = f"{evidence.rounds} of {run} rounds count; fewer than {fewest} can claim nothing"
        return Judgement(Verdict.UNDECIDED, detail, max(looks.last, run + fewest - evidence.rounds))
    if not looks.is_look(run):
        detail = f"{run} rounds lie between the looks at {looks.first} and {looks.last}"
        return Judgement(Verdict.UNDECIDED, detail, looks.last)
    return None


def _open_detail(evidence: Evidence, detected: bool, p: float) -> str:
    if detected:
        small = abs(_estimate(evidence)[0]) < margin(evidence.delta)
        return "detected, below delta" if small else "detected, not clear of delta"
    if claim_beyond_margin(evidence) is not None:
        told = f"beyond delta, but p = {p:.3g} is above {evidence.looks.alpha:g}"
        return f"{told}: the side launched first moved it by more" if _order_is_larger(evidence) else told
    return ""


def _order_is_larger(evidence: Evidence) -> bool:
    return evidence.first_side is not None and abs(evidence.first_side) > abs(_estimate(evidence)[0])


def _needed(evidence: Evidence) -> int | None:
    """The interval leaves out what the first side gains; the p of a claim does not, and needs rounds for it too."""
    theta, sd = _estimate(evidence)
    claims = abs(theta) > margin(evidence.delta)
    spread = math.hypot(sd, evidence.first_side or 0.0) if claims else sd
    estimate = rounds_needed(theta, spread, evidence.delta)
    if estimate is None:
        return None
    looks = evidence.looks
    following = looks.last if evidence.rounds_run < looks.last else evidence.rounds_run + 1
    return max(estimate, following)


def _estimate(evidence: Evidence) -> tuple[float, float]:
    """theta and the spread of one round, of rounds that are enough to claim something."""
    assert evidence.theta is not None, "two rounds have a mean"
    assert evidence.sd is not None, "two rounds have a spread"
    return evidence.theta, evidence.sd
