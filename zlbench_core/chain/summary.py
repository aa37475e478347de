"""The summary: statuses, the caliber guard, verdicts, tables and the receipt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zlbench_core import __version__
from zlbench_core.campaign import Campaign
from zlbench_core.chain.code import code_lines
from zlbench_core.chain.collect import Run, load_runs
from zlbench_core.chain.evidence import sample_lines
from zlbench_core.chain.judge import OperatorCase
from zlbench_core.chain.lines import ab_lines, status_lines, summary_lines
from zlbench_core.chain.store import Gates, Runs, family_of, read_gates, store_campaign
from zlbench_core.files import sha256_of, write_json
from zlbench_core.results.store import ROUNDS_NAME, SAMPLES_NAME, samples_writer, write_rounds
from zlbench_core.results.tables import write_ab, write_code, write_status, write_summary
from zlbench_core.source_digests import harness_files
from zlbench_core.verdicts.stored import StoredCampaign, judge_stored

SCHEMA_VERSION = 1


def summarise(
    campaign: Campaign, run_dirs: Sequence[Path], gate_files: Sequence[Path], out_dir: Path
) -> None:
    """Judge the runs of a campaign and write its tables. An operator that is refused gets reasons and no number."""
    runs, gates = load_runs(list(run_dirs)), read_gates(gate_files)
    stored, cases = _store(campaign, runs, gates, out_dir)
    verdicts = judge_stored(stored)
    shown = {op: case for op, case in cases.items() if _has_numbers(campaign, case, gates, verdicts)}

    statuses = [line for op in campaign.ops for line in status_lines(campaign, runs.get(op, []))]
    write_status(out_dir / "ops_status.csv", statuses)
    write_ab(out_dir / "ab.csv", [line for case in shown.values() for line in ab_lines(case)])
    write_code(out_dir / "code.csv", code_lines({op: gates[op] for op in cases if op in gates}))
    write_summary(out_dir / "summary.csv", summary_lines(campaign, runs, shown))
    write_json(out_dir / "receipt.json", _receipt(campaign, runs, gate_files, out_dir))
    write_json(out_dir / "verdicts.json", framed(verdicts))


def framed(verdicts: Mapping[str, Any]) -> dict[str, Any]:
    """verdicts.json: what was judged, and the frame by which a reader knows that it is whole."""
    return {"schema_version": SCHEMA_VERSION, "status": "complete", **verdicts}


def _store(
    campaign: Campaign, runs: Runs, gates: Gates, out_dir: Path
) -> tuple[StoredCampaign, dict[str, OperatorCase]]:
    with samples_writer(out_dir / SAMPLES_NAME) as append:
        stored, cases = store_campaign(
            campaign,
            runs,
            gates,
            family_of(gates),
            on_calls=lambda run, calls: append(sample_lines(run, calls)),
        )
    write_rounds(out_dir / ROUNDS_NAME, stored)
    return stored, cases


def _has_numbers(campaign: Campaign, case: OperatorCase, gates: Gates, verdicts: Mapping[str, Any]) -> bool:
    """Refused sides, equal code and a void campaign have none: the rounds of unchanged code show noise."""
    unchanged = gates.get(case.op, {}).get("verdict") == "identical" and not campaign.allow_no_diff
    if verdicts["void"] or unchanged:
        return False
    return campaign.allow_caliber_mismatch or not case.refusals


def _receipt(
    campaign: Campaign, runs: Mapping[str, list[Run]], gate_files: Sequence[Path], out_dir: Path
) -> dict[str, Any]:
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
        "store": {name: sha256_of(out_dir / name) for name in (ROUNDS_NAME, SAMPLES_NAME)},
    }
