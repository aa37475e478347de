"""Whether further rounds can still decide, and the claim that is valid at any moment."""

from __future__ import annotations

from collections.abc import Sequence

from zlbench_core.campaign.looks import Looks, plan_looks
from zlbench_core.verdicts.evidence import gather
from zlbench_core.verdicts.interval import delta_of
from zlbench_core.verdicts.judge import judge
from zlbench_core.verdicts.model import Evidence
from zlbench_core.verdicts.signflip import sign_flip_p
from zlbench_core.verdicts.words import Verdict


def next_rounds(
    log_ratios: Sequence[float | None],
    alpha: float = 0.05,
    *,
    delta: float | None = None,
    looks: Looks | None = None,
) -> int:
    """How many further rounds can still decide this series; 0 when it is decided or when no look is left.

    `log_ratios`: one per round that was run, None where it does not count; `decide_operator` gives the same
    number as `next_rounds` of its verdict. Nothing is given up at the first look: whatever it says short of
    a decision, rounds that nobody has seen yet can still decide.
    """
    looks = plan_looks(alpha) if looks is None else looks
    declared = delta_of([], [], delta)
    return further_rounds(gather(log_ratios, (), delta=declared, looks=looks, test=sign_flip_p))


def further_rounds(evidence: Evidence) -> int:
    """`next_rounds` for evidence that was gathered already. A series without any measurement is given up."""
    looks, run = evidence.looks, evidence.rounds_run
    if run >= looks.last or (run > 0 and evidence.rounds == 0):
        return 0
    if run < looks.at_least:
        return looks.at_least - run
    # A claim at the first look spends at most the operator's own level, so its family lets it through.
    decided = judge(evidence, evidence.p).verdict is not Verdict.UNDECIDED
    return 0 if decided else looks.last - run


def kt_e_values(log_ratios: Sequence[float]) -> tuple[float, ...]:
    """The Krichevsky-Trofimov bet on the signs after each round: E *= 2p on +, 2(1 - p) on -, skip on 0.

    p = (k + 1/2) / (n + 1) with k positive signs among the n before. Under "B = A" with fair coins E is a
    martingale, so "claim once E >= 1/alpha" errs at most alpha of the time at any stop (Ville; Ramdas et al.,
    arXiv 2210.01948).
    """
    values, e_value, positive, seen = [], 1.0, 0, 0
    for value in log_ratios:
        if value != 0:
            bet = (positive + 0.5) / (seen + 1)
            e_value *= 2 * bet if value > 0 else 2 * (1 - bet)
            positive += value > 0
            seen += 1
        values.append(e_value)
    return tuple(values)


def anytime_p(log_ratios: Sequence[float]) -> float:
    """A p-value that may be looked at after every round: 1 over the largest e-value so far, at most 1."""
    return min(1.0, 1.0 / max(kt_e_values(log_ratios), default=1.0))
