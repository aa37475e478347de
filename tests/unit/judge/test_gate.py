"""The step of the chain that writes ir_gate.json: what is not known is never called identical."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from zlbench_core.campaign.family import rounds_after_gate
from zlbench_core.campaign.load import load_campaign
from zlbench_core.campaign.schema_files import check
from zlbench_core.errors import ZlbenchError
from zlbench_core.judge.code import code_lines
from zlbench_core.judge.gate import compare_ir, gate_device
from zlbench_core.judge.guards import gate_refusals
from zlbench_core.records.identity import init_identity, update_identity

CAMPAIGN = load_campaign(
    {"ops": ["mm"], "rounds": 6, "sides": {"a": {}, "b": {"env": {"TRITON_STORE_BINARY_ONLY": "1"}}}}
)


def decided(tmp_path: Path, archives: dict[str, Path | None], **failed: str) -> dict[str, object]:
    """The gate of two runs that hold these archives; `failed` is the failure of a side."""
    folders = {}
    for side, archive in archives.items():
        folders[side] = tmp_path / side
        init_identity(folders[side], op="mm", side=side)
        if archive is not None:
            shutil.copytree(archive / "ir", folders[side] / "ir")
        update_identity(
            folders[side], status="failed" if side in failed else "complete", failure=failed.get(side)
        )
    out = tmp_path / "ir_gate.json"
    compare_ir(CAMPAIGN, "mm", folders, out)
    document = json.loads(out.read_text())
    check(document, "ir_gate", str(out), ZlbenchError)
    return document


def test_binaries_alone_are_unknown_and_the_operator_is_refused(compiled: Path, tmp_path: Path) -> None:
    binary_only = compiled / "binary_only" / "cuda"
    gate = decided(tmp_path, {"a": binary_only, "b": binary_only})
    assert (gate["verdict"], gate["marker"]) == ("unknown", None)
    assert "is TRITON_STORE_BINARY_ONLY set?" in gate["reason"]
    assert gate_refusals(gate, "mm") == [
        f"ir_gate: not known whether the generated code differs: {gate['reason']}"
    ]
    gate_device([tmp_path / "ir_gate.json"], tmp_path / "device.json")
    assert list(rounds_after_gate(CAMPAIGN, "mm", tmp_path / "device.json")) == [1]


@pytest.mark.parametrize("side", ["a", "b"])
def test_a_side_that_compiled_nothing_is_unknown(compiled: Path, tmp_path: Path, side: str) -> None:
    """As where a kernel was found in a cache that tells nobody, or nothing was launched."""
    full = compiled / "base" / "cuda"
    empty = tmp_path / "empty" / "ir"
    empty.mkdir(parents=True)
    index = {"schema_version": 1, "status": "complete", "variants": [], "digests": {}}
    (empty / "index.json").write_text(json.dumps(index))
    gate = decided(tmp_path, {"a": full, "b": full} | {side: empty.parent})
    assert (gate["verdict"], gate["reason"]) == ("unknown", f"nothing was captured on side {side}")
    assert "unknown" in next(code_lines({"mm": gate})).cells


def test_a_side_without_an_archive_is_unknown(compiled: Path, tmp_path: Path) -> None:
    gate = decided(tmp_path, {"a": compiled / "base" / "cuda", "b": None})
    assert gate["verdict"] == "unknown"
    assert "no IR archive" in gate["reason"]


def test_a_failed_run_leaves_it_unknown_though_its_archive_equals_the_other(
    compiled: Path, tmp_path: Path
) -> None:
    full = compiled / "base" / "cuda"
    gate = decided(tmp_path, {"a": full, "b": full}, b="pytest exit 1")
    assert (gate["verdict"], gate["reason"], gate["variants"]) == (
        "unknown",
        f"b: pytest exit 1 ({tmp_path / 'b' / 'run.log'})",
        [],
    )


def test_the_same_archives_of_complete_runs_are_identical(compiled: Path, tmp_path: Path) -> None:
    full = compiled / "base" / "cuda"
    gate = decided(tmp_path, {"a": full, "b": full})
    assert (gate["verdict"], gate["marker"]) == ("identical", "SWITCH_NO_IR_DIFF")
    assert gate_refusals(gate, "mm") == []
