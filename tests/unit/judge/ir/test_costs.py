from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.ir.ir_helpers import static_cost
from zlbench_core.campaign.schema_files import check
from zlbench_core.errors import ZlbenchError
from zlbench_core.ir.archive import read_archive
from zlbench_core.judge.ir import disassembly
from zlbench_core.judge.ir.costs import change_ranges, costs_of
from zlbench_core.judge.ir.disassembly import disassemble_cubin, disassemble_cubins
from zlbench_core.judge.ir.gate import gate
from zlbench_core.judge.ir.instructions import sass_mnemonics


def cubins(compiled: Path) -> list[Path]:
    folders = [compiled / switch / "cuda" for switch in ("base", "f32_ieee", "no_ptxas_opt")]
    return [variant.path / "cubin" for folder in folders for variant in read_archive(folder).variants]


def test_many_cubins_at_once_are_disassembled_as_each_alone(compiled: Path) -> None:
    paths = cubins(compiled)
    together = disassemble_cubins(paths, 90)
    for path, found in zip(paths, together, strict=True):
        assert sass_mnemonics(found.instructions) == sass_mnemonics(disassemble_cubin(path).instructions)


def test_what_cannot_be_disassembled_together_is_tried_alone(compiled: Path, tmp_path: Path) -> None:
    good = cubins(compiled)[0]
    broken = tmp_path / "cubin"
    broken.write_bytes(b"no cubin")
    assert disassemble_cubins([good], 1)[0] == disassemble_cubin(good)
    found = disassemble_cubins([good, broken], 90)
    assert found[0] == disassemble_cubin(good)
    assert "nvdisasm failed" in found[1].reason


def test_equal_code_is_read_once_and_costs_the_same(compiled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = disassembly._nvdisasm
    monkeypatch.setattr(disassembly, "_nvdisasm", lambda *words: calls.append(words) or real(*words))
    variants = [
        variant
        for switch in ("base", "no_line_info", "moved", "f32_ieee")
        for variant in read_archive(compiled / switch / "cuda").variants
    ]
    costs = costs_of(variants)
    assert len(calls) == 1
    assert costs == [static_cost(variant.path) for variant in variants]


@pytest.mark.parametrize("target", ["cuda", "hip"])
def test_the_gate_stores_the_cost_of_both_sides(compiled: Path, tmp_path: Path, target: str) -> None:
    out = tmp_path / "ir_gate.json"
    gate("mm", [compiled / "base" / target], [compiled / "f32_ieee" / target], out)
    document = json.loads(out.read_text())
    check(document, "ir_gate", str(out), ZlbenchError)
    mm, scale = document["variants"]
    counts = {side: mm["cost"][side]["instructions"].get("mma", 0) for side in "ab"}
    assert counts == {"cuda": {"a": 8, "b": 0}, "hip": {"a": 8, "b": 16}}[target]
    assert mm["cost"]["change"]["instructions.mma"] == counts["b"] - counts["a"]
    assert set(scale["cost"]["change"].values()) == {0}
    registers = mm["cost"]["change"]["registers"]
    assert document["cost_change"]["registers"] == {"min": registers, "max": registers}


def test_a_variant_of_one_side_has_that_sides_cost(archive: Callable[..., Path], tmp_path: Path) -> None:
    out = tmp_path / "ir_gate.json"
    gate("op", [archive("a", {"add": {"ttir": b"t", "ttgir": b"g"}})], [archive("b", {})], out)
    check(json.loads(out.read_text()), "ir_gate", str(out), ZlbenchError)
    stages = {"ttir": b"t", "ttgir": b"g"}
    document = gate("op", [archive("c", {"add": stages})], [archive("d", {"mul": stages})], out)
    check(document, "ir_gate", str(out), ZlbenchError)
    costs = [variant["cost"] for variant in document["variants"]]
    assert [(cost["a"] is None, cost["b"] is None, cost["change"]) for cost in costs] == [
        (False, True, {}),
        (True, False, {}),
    ]
    assert document["cost_change"] == {"registers": None, "spills": None, "instructions": None}


def test_a_range_with_an_unknown_change_is_unknown() -> None:
    def cost(registers: int | None) -> dict[str, object]:
        return {"a": {"x": 1}, "b": {"x": 1}, "change": {"registers": registers, "spills": 0}}

    assert change_ranges([cost(-3), cost(8)])["registers"] == {"min": -3, "max": 8}
    assert change_ranges([cost(-3), cost(None)])["registers"] is None
    assert change_ranges([cost(-3)])["instructions"] is None
