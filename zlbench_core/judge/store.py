"""What is stored of a campaign: the one thing that its verdicts are computed from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from zlbench_core.campaign.family import campaign_looks, family_size
from zlbench_core.campaign.model import Campaign
from zlbench_core.campaign.schema_files import check
from zlbench_core.errors import ArchiveError
from zlbench_core.judge.collect import Run
from zlbench_core.judge.evidence import Calls, stored_rows, with_calls
from zlbench_core.judge.ir.gate import read_gate
from zlbench_core.judge.judge import OperatorCase, build_case, one_sided_case
from zlbench_core.run.plans import round_digest
from zlbench_core.verdicts import fixed_looks
from zlbench_core.verdicts.stored import SEED, StoredCampaign, StoredOperator

Gates = Mapping[str, dict[str, Any]]


def store_operator(
    campaign: Campaign, op: str, runs: Sequence[Run], gate: dict[str, Any] | None, family: int
) -> tuple[StoredOperator | None, OperatorCase, Calls]:
    """What is stored of one operator (None where nothing is: one side, and nothing to say), its case, its samples.

    `family`: how many operators will be judged (family.family_size).
    """
    if gate is not None:
        check(gate, "ir_gate", f"the gate of {op}", ArchiveError)
    case, calls = with_calls(_case(campaign, op, runs, gate), runs)
    if not (campaign.is_ab or case.refusals or case.hazards):
        return None, case, calls
    return _operator(campaign, case, gate or {}, family, calls), case, calls


def store_campaign(campaign: Campaign, operators: Iterable[StoredOperator | None]) -> StoredCampaign:
    return StoredCampaign(
        alpha=campaign.alpha,
        delta=campaign.delta,
        policy=campaign.policy,
        stopping=campaign.stopping,
        seed=SEED,
        measured=campaign.measure,
        released=campaign.allow_caliber_mismatch,
        declared_axis=tuple(campaign.declared_axis()),
        sides=campaign.side_names,
        operators=tuple(operator for operator in operators if operator is not None),
    )


def read_gates(paths: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """The gates by operator. Raises ArchiveError, one line, for one that holds no verdict."""
    return {path.parent.name: read_gate(path) for path in paths}


def family_of(gates: Gates) -> int:
    return family_size(gate["verdict"] for gate in gates.values())


def is_timed(campaign: Campaign, op: str, verdict: str | None) -> bool:
    """Whether an operator's rounds are evidence: one round of unchanged code that nobody asked for is none."""
    return verdict != "identical" or campaign.allow_no_diff or campaign.placebo.wants(op)


def _case(campaign: Campaign, op: str, runs: Sequence[Run], gate: dict[str, Any] | None) -> OperatorCase:
    axis, plan = campaign.declared_axis(), round_digest(campaign, op)
    if not campaign.is_ab:
        return one_sided_case(op, runs, axis, plan)
    return build_case(op, runs, gate, axis, campaign.measure, plan)


def _operator(
    campaign: Campaign,
    case: OperatorCase,
    gate: Mapping[str, Any],
    family: int,
    calls: Calls,
) -> StoredOperator:
    verdict = gate.get("verdict")
    placebo = verdict == "identical" and not campaign.allow_no_diff and campaign.placebo.wants(case.op)
    looks = campaign_looks(campaign, family)
    return StoredOperator(
        case.op,
        ir=verdict if verdict in ("identical", "different") else None,
        first_stage=gate.get("first_stage"),
        looks=fixed_looks(campaign.placebo.rounds, campaign.alpha) if placebo else looks,
        refusals=case.refusals,
        exclusions=case.exclusions,
        hazards=case.hazards,
        rows=stored_rows(case, calls) if is_timed(campaign, case.op, verdict) else (),
    )
