"""The verdict of a campaign: the operators' claims after the adjustment for their number, or none at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from zlbench_core.campaign.looks import minimum_rounds
from zlbench_core.errors import ConfigError
from zlbench_core.verdicts.judge import judge
from zlbench_core.verdicts.model import OperatorVerdict, RowVerdict
from zlbench_core.verdicts.multiplicity import adjust, row_factor
from zlbench_core.verdicts.placebo import PLACEBO_LEVEL, PlaceboCheck, check_placebos
from zlbench_core.verdicts.words import CLAIMS, JUDGED, Verdict


@dataclass(frozen=True)
class CampaignVerdict:
    policy: str
    alpha: float
    family: int
    operators: tuple[OperatorVerdict, ...]
    placebos: PlaceboCheck
    void: str | None = None

    def counts(self) -> dict[str, int]:
        """How many operators have each verdict, every verdict named."""
        given = [operator.verdict for operator in self.operators]
        return {verdict.value: given.count(verdict) for verdict in Verdict}

    def to_json(self) -> dict[str, Any]:
        return {
            "policy": self.policy,
            "alpha": self.alpha,
            "family": self.family,
            "void": self.void,
            "counts": self.counts(),
            "placebos": self.placebos.to_json(),
            "operators": [operator.to_json() for operator in self.operators],
        }


def decide_campaign(
    operators: Sequence[OperatorVerdict],
    *,
    policy: str = "gate",
    alpha: float = 0.05,
    placebos: Sequence[OperatorVerdict] | None = None,
    placebo_level: float = PLACEBO_LEVEL,
) -> CampaignVerdict:
    """Adjust every operator's p for the family and judge again: a claim must survive the adjustment.

    The family is the operators that were judged; NO CODE CHANGE and REFUSED are not in it. `placebos`
    defaults to the operators that carry placebo data. When those claim more often than the binomial bound
    allows, every judged operator is VOID and keeps no number. Raises ConfigError for another policy, or for
    an operator that was judged at another alpha.
    """
    _check_alpha(operators, alpha)
    check = check_placebos(operators if placebos is None else placebos, alpha, placebo_level)
    family = [verdict for verdict in operators if verdict.verdict in JUDGED]
    adjusted = adjust([_own_p(verdict) for verdict in family], policy)
    factor = row_factor(adjusted, alpha, policy)
    void = _alarm(check) if check.alarm else None
    final = iter(
        _void(verdict, void) if void else _adjusted(verdict, p, factor, policy, len(family))
        for verdict, p in zip(family, adjusted, strict=True)
    )
    judged = tuple(next(final) if verdict.verdict in JUDGED else verdict for verdict in operators)
    return CampaignVerdict(policy, alpha, len(family), judged, check, void)


def _check_alpha(operators: Sequence[OperatorVerdict], alpha: float) -> None:
    for verdict in operators:
        if verdict.evidence is not None and verdict.evidence.looks.alpha != alpha:
            raise ConfigError(
                f"{verdict.op}: judged at alpha {verdict.evidence.looks.alpha}, but the campaign's is {alpha}"
            )


def _own_p(verdict: OperatorVerdict) -> float:
    return 1.0 if verdict.evidence is None else verdict.evidence.p


def _alarm(check: PlaceboCheck) -> str:
    return (
        f"placebo alarm: {check.claims} of {check.usable} operators with identical code would be claimed to "
        f"differ; at most {check.allowed} may (binomial, alpha {check.alpha:g}, level {check.level:g})"
    )


def _void(verdict: OperatorVerdict, reason: str) -> OperatorVerdict:
    return OperatorVerdict(verdict.op, Verdict.VOID, reasons=(reason,))


def _adjusted(verdict: OperatorVerdict, p: float, factor: float, policy: str, family: int) -> OperatorVerdict:
    if verdict.evidence is None:
        return replace(verdict, adjusted_p=p)
    judgement = judge(verdict.evidence, p)
    detail, needed = judgement.detail, judgement.rounds_needed
    if verdict.verdict in CLAIMS and judgement.verdict not in CLAIMS:
        detail = f"the claim (p = {verdict.evidence.p:.3g}) does not survive {family} operators: {detail}"
        if needed is not None:
            needed = max(needed, minimum_rounds(verdict.evidence.looks.alpha / family))
    open_rows = policy == "gate" or p <= verdict.evidence.looks.alpha
    return replace(
        verdict,
        verdict=judgement.verdict,
        detail=detail,
        rounds_needed=needed,
        adjusted_p=p,
        rows=tuple(_adjusted_row(row, factor if open_rows else None) for row in verdict.rows),
    )


def _adjusted_row(row: RowVerdict, factor: float | None) -> RowVerdict:
    p = 1.0 if factor is None else min(1.0, factor * row.evidence.p)
    judgement = judge(row.evidence, p)
    return replace(
        row,
        verdict=judgement.verdict,
        detail=judgement.detail,
        rounds_needed=judgement.rounds_needed,
        adjusted_p=p,
    )
