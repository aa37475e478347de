"""The summary: statuses, the caliber guard, verdicts, tables and the receipt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from zlbench_core import __version__
from zlbench_core.campaign.model import Campaign
from zlbench_core.common.files import sha256_of, write_json
from zlbench_core.judge.code import code_lines
from zlbench_core.judge.parts import OperatorPart, operator_parts
from zlbench_core.judge.store import read_gates, store_campaign
from zlbench_core.results.csv_files import write_csv
from zlbench_core.results.frames import GrowingText, lines_text
from zlbench_core.results.store import ROUNDS_NAME, SAMPLES_NAME, samples_writer, write_rounds
from zlbench_core.results.tables import AB, CODE, STATUS, SUMMARY, TABLES
from zlbench_core.run.source_digests import harness_files
from zlbench_core.verdicts.stored import judge_stored

SCHEMA_VERSION = 1


def summarise(
    campaign: Campaign,
    run_dirs: Sequence[Path],
    gate_files: Sequence[Path],
    out_dir: Path,
    at_once: int = 1,
) -> None:
    """Judge the runs of a campaign and write its tables. An operator that is refused gets reasons and no number.

    Operators are read by up to `at_once` processes.
    """
    gates, parts = read_gates(gate_files), []
    texts = {table: GrowingText(table) for table in (STATUS, AB, SUMMARY)}
    with (
        operator_parts(campaign, run_dirs, gates, at_once) as found,
        samples_writer(out_dir / SAMPLES_NAME) as append,
    ):
        for part in found:
            append(part.samples)
            for table, lines in ((STATUS, part.statuses), (AB, part.ab), (SUMMARY, part.summary)):
                texts[table].add(lines)
            parts.append(replace(part, samples=b"", statuses=(), ab=(), summary=()))
    stored = store_campaign(campaign, [part.stored for part in parts])
    write_rounds(out_dir / ROUNDS_NAME, stored)
    verdicts = judge_stored(stored, [part.verdict for part in parts if part.verdict is not None])
    # A void campaign has no numbers: what its placebos claimed, any operator may have claimed.
    shown = {table: [] if verdicts["void"] else texts[table].parts() for table in (AB, SUMMARY)}
    code = code_lines({op: gates[op] for op in campaign.subject.ops if op in gates})
    shown |= {STATUS: texts[STATUS].parts(), CODE: [lines_text(CODE, code)]}
    for table in TABLES:
        write_csv(out_dir / f"{table.name}.csv", table, shown[table])
    write_json(out_dir / "receipt.json", _receipt(campaign, parts, gate_files, out_dir))
    write_json(out_dir / "verdicts.json", framed(verdicts))


def framed(verdicts: Mapping[str, Any]) -> dict[str, Any]:
    """verdicts.json: what was judged, and the frame by which a reader knows that it is whole."""
    return {"schema_version": SCHEMA_VERSION, "status": "complete", **verdicts}


def _receipt(
    campaign: Campaign, parts: Sequence[OperatorPart], gate_files: Sequence[Path], out_dir: Path
) -> dict[str, Any]:
    """What the verdicts rest on: the configuration, the harness, and the identity of every run by digest."""
    return {
        "schema_version": SCHEMA_VERSION,
        "zlbench": __version__,
        "config": campaign.to_json(),
        "declared_axis": campaign.subject.declared_axis(),
        "harness": harness_files(),
        "identities": {path: digest for part in parts for path, digest in part.identities.items()},
        "gates": {str(path): sha256_of(path) for path in gate_files},
        "store": {name: sha256_of(out_dir / name) for name in (ROUNDS_NAME, SAMPLES_NAME)},
    }
