"""Whether further rounds can still decide."""

from __future__ import annotations

from zlbench_core.verdicts.judge import judge
from zlbench_core.verdicts.model import Evidence
from zlbench_core.verdicts.words import Verdict


def further_rounds(evidence: Evidence) -> int:
    """How many further rounds can still decide; 0 when it is decided or when no look is left.

    Nothing is given up at the first look: whatever it says short of a decision, rounds that nobody has seen yet can
    still decide. A series without any measurement is given up.
    """
    looks, run = evidence.looks, evidence.rounds_run
    if run >= looks.last or (run > 0 and evidence.rounds == 0):
        return 0
    if run < looks.at_least:
        return looks.at_least - run
    # A claim at the first look spends at most the operator's own level, so its family lets it through.
    decided = judge(evidence, evidence.p).verdict is not Verdict.UNDECIDED
    return 0 if decided else looks.last - run
