"""What is stored of a campaign: the one thing that its verdicts are computed from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from zlbench_core.campaign.family import campaign_looks, family_size
from zlbench_core.campaign.model import LookAsked
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
    asked: LookAsked, op: str, runs: Sequence[Run], gate: dict[str, Any] | None, family: int
) -> tuple[StoredOperator | None, OperatorCase, Calls]:
    """What is stored of one operator (None where nothing is: one side, and nothing to say), its case, its samples.

    `family`: how many operators will be judged (family.family_size).
    """
    if gate is not None:
        check(gate, "ir_gate", f"the gate of {op}", ArchiveError)
    case, calls = with_calls(_case(asked, op, runs, gate), runs)
    if not (asked.subject.is_ab or case.refusals or case.hazards):
        return None, case, calls
    return _operator(asked, case, gate or {}, family, calls), case, calls


def store_campaign(asked: LookAsked, operators: Iterable[StoredOperator | None]) -> StoredCampaign:
    return StoredCampaign(
        alpha=asked.judgement.alpha,
        delta=asked.judgement.delta,
        policy=asked.judgement.policy,
        stopping=asked.judgement.stopping,
        seed=SEED,
        measured=asked.timing.measure,
        released=asked.judgement.allow_caliber_mismatch,
        declared_axis=tuple(asked.subject.declared_axis()),
        sides=asked.subject.side_names,
        operators=tuple(operator for operator in operators if operator is not None),
    )


def read_gates(paths: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """The gates by operator. Raises ArchiveError, one line, for one that holds no verdict."""
    return {path.parent.name: read_gate(path) for path in paths}


def family_of(gates: Gates) -> int:
    return family_size(gate["verdict"] for gate in gates.values())


def is_timed(asked: LookAsked, op: str, verdict: str | None) -> bool:
    """Whether an operator's rounds are evidence: one round of unchanged code that nobody asked for is none."""
    return verdict != "identical" or asked.judgement.allow_no_diff or asked.judgement.placebo.wants(op)


def _case(asked: LookAsked, op: str, runs: Sequence[Run], gate: dict[str, Any] | None) -> OperatorCase:
    axis, plan = asked.subject.declared_axis(), round_digest(asked, op)
    if not asked.subject.is_ab:
        return one_sided_case(op, runs, axis, plan)
    return build_case(op, runs, gate, axis, asked.timing.measure, plan)


def _operator(
    asked: LookAsked,
    case: OperatorCase,
    gate: Mapping[str, Any],
    family: int,
    calls: Calls,
) -> StoredOperator:
    verdict = gate.get("verdict")
    placebo = (
        verdict == "identical"
        and not asked.judgement.allow_no_diff
        and asked.judgement.placebo.wants(case.op)
    )
    looks = campaign_looks(asked.judgement, family)
    return StoredOperator(
        case.op,
        ir=verdict if verdict in ("identical", "different") else None,
        first_stage=gate.get("first_stage"),
        looks=fixed_looks(asked.judgement.placebo.rounds, asked.judgement.alpha) if placebo else looks,
        refusals=case.refusals,
        exclusions=case.exclusions,
        hazards=case.hazards,
        rows=stored_rows(case, calls) if is_timed(asked, case.op, verdict) else (),
    )
