"""The summary: statuses, the caliber guard, verdicts, tables and the receipt."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zlbench_core import __version__
from zlbench_core.campaign import Campaign
from zlbench_core.chain.collect import Run, load_runs
from zlbench_core.chain.judge import OperatorCase, build_case, to_rounds
from zlbench_core.chain.lines import ab_lines, status_lines, summary_lines
from zlbench_core.errors import ArchiveError
from zlbench_core.files import sha256_of, write_json
from zlbench_core.plans import round_digest
from zlbench_core.results.tables import write_ab, write_status, write_summary
from zlbench_core.schemas import check
from zlbench_core.source_digests import harness_files
from zlbench_core.verdicts import (
    Looks,
    OperatorVerdict,
    Verdict,
    decide_campaign,
    decide_operator,
    fixed_looks,
    minimum_rounds,
    plan_looks,
)

SCHEMA_VERSION = 1


def summarise(
    campaign: Campaign, run_dirs: Sequence[Path], gate_files: Sequence[Path], out_dir: Path
) -> None:
    """Judge the runs of a campaign and write its tables. An operator that is refused gets reasons and no number."""
    runs = load_runs(list(run_dirs))
    gates = {path.parent.name: _read_gate(path) for path in gate_files}
    statuses = [line for op in campaign.ops for line in status_lines(campaign, runs.get(op, []))]
    cases = _cases(campaign, runs, gates) if campaign.is_ab else {}
    verdict = _verdict(campaign, cases, gates)
    shown = {op: case for op, case in cases.items() if _has_numbers(campaign, case, gates[op])}

    write_status(out_dir / "ops_status.csv", statuses)
    write_ab(out_dir / "ab.csv", [line for case in shown.values() for line in ab_lines(case)])
    write_summary(out_dir / "summary.csv", summary_lines(campaign, runs, shown))
    write_json(out_dir / "receipt.json", _receipt(campaign, runs, gate_files))
    write_json(out_dir / "verdicts.json", {"schema_version": SCHEMA_VERSION, "status": "complete", **verdict})


def _cases(
    campaign: Campaign, runs: Mapping[str, list[Run]], gates: Mapping[str, dict[str, Any]]
) -> dict[str, OperatorCase]:
    axis = campaign.declared_axis()
    return {
        op: build_case(
            op, runs.get(op, []), gates.get(op), axis, campaign.measure, round_digest(campaign, op)
        )
        for op in campaign.ops
    }


def _has_numbers(campaign: Campaign, case: OperatorCase, gate: Mapping[str, Any]) -> bool:
    """Refused sides and equal code have none: the one round of an unchanged operator shows noise."""
    if gate["verdict"] == "identical" and not campaign.allow_no_diff:
        return False
    return campaign.allow_caliber_mismatch or not case.refusals


def _verdict(
    campaign: Campaign, cases: Mapping[str, OperatorCase], gates: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    judged = [_operator(campaign, case, gates[op]) for op, case in cases.items()]
    found = decide_campaign(judged, policy=campaign.policy, alpha=campaign.alpha).to_json()
    for operator in found["operators"]:
        operator["refusals"] = list(cases[operator["op"]].refusals)
        operator["exclusions"] = list(cases[operator["op"]].exclusions)
        operator["hazards"] = list(cases[operator["op"]].hazards)
    axis = {"declared_axis": campaign.declared_axis(), "sides": list(campaign.side_names)}
    return {**found, **axis, "allow_caliber_mismatch": campaign.allow_caliber_mismatch}


def _operator(campaign: Campaign, case: OperatorCase, gate: Mapping[str, Any]) -> OperatorVerdict:
    refusals = () if campaign.allow_caliber_mismatch else case.refusals
    ir = gate["verdict"] if gate["verdict"] in ("identical", "different") else None
    if ir == "different" and not campaign.measure and not refusals:
        detail = f"the generated code differs from {gate['first_stage']} on; nothing was measured"
        return OperatorVerdict(case.op, Verdict.UNDECIDED, detail)
    rows = to_rounds(case) if ir != "identical" or campaign.allow_no_diff else []
    return decide_operator(
        case.op,
        rows,
        alpha=campaign.alpha,
        delta=campaign.delta,
        ir=ir,
        refusals=list(refusals),
        looks=_looks(campaign),
    )


def _looks(campaign: Campaign) -> Looks:
    """All rounds are run before anybody looks, so there is one look; too few rounds can claim nothing at all."""
    if campaign.rounds < minimum_rounds(campaign.alpha):
        return plan_looks(campaign.alpha)
    return fixed_looks(campaign.rounds, campaign.alpha)


def _receipt(campaign: Campaign, runs: Mapping[str, list[Run]], gate_files: Sequence[Path]) -> dict[str, Any]:
    """What the verdicts rest on: the configuration, the harness, and the identity of every run by digest."""
    identities = [run.folder / "run_identity.json" for group in runs.values() for run in group]
    return {
        "schema_version": SCHEMA_VERSION,
        "zlbench": __version__,
        "config": campaign.to_json(),
        "declared_axis": campaign.declared_axis(),
        "harness": harness_files(),
        "identities": {str(path): sha256_of(path) for path in identities if path.is_file()},
        "gates": {str(path): sha256_of(path) for path in gate_files},
    }


def _read_gate(path: Path) -> dict[str, Any]:
    try:
        gate = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ArchiveError(f"unreadable gate {path}: {error}; the same command makes it again") from None
    check(gate, "ir_gate", str(path), ArchiveError)
    return gate
