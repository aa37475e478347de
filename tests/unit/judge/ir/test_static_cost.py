from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.ir.ir_helpers import facts, static_cost
from zlbench_core.judge.ir import disassembly
from zlbench_core.judge.ir.disassembly import find_tool
from zlbench_core.judge.ir.instructions import GCN, SASS, count_by_class, gcn_mnemonics, sass_mnemonics
from zlbench_core.judge.ir.static_cost import compare_costs


def variant(compiled: Path, switch: str, target: str, kernel: str) -> Path:
    (path,) = (compiled / switch / target / "ir" / kernel).iterdir()
    return path


@pytest.mark.parametrize("switch", ["base", "no_ptxas_opt"])
@pytest.mark.parametrize("kernel", ["mm", "scale"])
def test_a_cubin_costs_what_the_vendors_tool_says(compiled: Path, switch: str, kernel: str) -> None:
    path = variant(compiled, switch, "cuda", kernel)
    command = [find_tool("cuobjdump"), "--dump-resource-usage", str(path / "cubin")]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    cost = static_cost(path)
    assert f"REG:{cost['registers']} STACK:{cost['local_bytes']} " in told
    assert cost["reasons"].keys() == {"scalar_registers"}


def test_the_cost_of_a_matrix_product_without_tensor_cores_shows_where_it_went(compiled: Path) -> None:
    costs = [static_cost(variant(compiled, switch, "cuda", "mm")) for switch in ("base", "f32_ieee")]
    changes = compare_costs(*costs)
    assert changes["instructions.mma"] == {"a": 8, "b": 0, "change": -8}
    assert changes["instructions.float"]["change"] >= 256
    assert changes["registers"]["change"] == costs[1]["registers"] - costs[0]["registers"]
    assert changes["shared_bytes"] == {"a": 8192, "b": 8192, "change": 0}
    assert "scalar_registers" not in changes


def test_an_amdgpu_code_object_costs_what_its_assembler_text_says(compiled: Path) -> None:
    path = variant(compiled, "base", "hip", "mm")
    text = (path / "amdgcn").read_text()
    cost = static_cost(path)
    assert cost["registers"] == int(re.search(r"\.vgpr_count:\s+(\d+)", text)[1])
    assert cost["scalar_registers"] == int(re.search(r"\.sgpr_count:\s+(\d+)", text)[1])
    assert (cost["spills"], cost["local_bytes"], cost["shared_bytes"]) == (0, 0, 4096)
    assert cost["instructions"]["mma"] == text.count("\tv_mfma_")
    assert cost["reasons"] == {}


def test_without_a_disassembler_the_instructions_are_unknown_and_not_zero(
    compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = variant(compiled, "base", "cuda", "mm")
    full = static_cost(path)
    monkeypatch.setattr(disassembly, "find_tool", lambda name: None)
    cost = static_cost(path)
    assert cost["registers"] == full["registers"]
    assert cost["instructions"] is cost["spills"] is cost["spills_unit"] is None
    assert "nvdisasm" in cost["reasons"]["instructions"]
    assert compare_costs(full, cost)["instructions.mma"] == {"a": 8, "b": None, "change": None}


def test_a_disassembler_that_fails_is_a_reason(compiled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disassembly, "find_tool", lambda name: "/bin/false")
    assert "nvdisasm failed" in static_cost(variant(compiled, "base", "cuda", "mm"))["reasons"]["spills"]


def test_spills_in_different_units_have_no_change(compiled: Path) -> None:
    costs = [static_cost(variant(compiled, "base", target, "mm")) for target in ("cuda", "hip")]
    assert compare_costs(*costs)["spills"] == {"a": 0, "b": 0, "change": None}


@pytest.mark.parametrize(
    ("stages", "reason"),
    [
        ({"ttir": b"module {\n}\n", "mubin": b"\x00\xff"}, "no reader for the stages ttir, mubin"),
        ({"ttir": b"module {\n}\n", "cubin": b"\x7fELF\x02"}, "unreadable cubin: not a 64-bit"),
    ],
)
def test_a_binary_of_unknown_form_has_reasons_and_no_figures(
    archive: Callable[..., Path], stages: dict[str, bytes], reason: str
) -> None:
    run = archive("a", {"add": stages})
    cost = static_cost(run / "ir" / "add" / facts("add").variant_id)
    assert cost["registers"] is None
    assert cost["instructions"] is None
    assert reason in cost["reasons"]["registers"]


def test_instructions_are_sorted_by_what_they_do() -> None:
    sass = [
        "@!P0 LDG.E.128 R4, desc[UR4][R2.64]",
        "STL.64 [R1], R2",
        "HFMA2.MMA R1, -RZ, RZ, 0, 0",
        "HGMMA.64x64x8.F32.TF32 R24, gdesc[UR4], R24",
        "@UP1 UIADD3 UR4, UR4, 0x1, URZ",
        "LDGSTS.E [R1], desc[UR4][R2.64]",
        "BAR.SYNC.DEFER_BLOCKING 0x0",
        "NOP",
        "WHATISTHIS R1",
    ]
    assert count_by_class(sass_mnemonics(sass), SASS) == {
        "async_copy": 1,
        "float": 1,
        "global_load": 1,
        "integer": 1,
        "local_store": 1,
        "mma": 1,
        "nop": 1,
        "other": 1,
        "sync": 1,
    }
    gcn = ".LBB0_1:\n\tv_mfma_f32_32x32x2_f32 a\n\tds_read_b64 v\n\t.x_y z\n\tv_cvt_f32_f16 v\n\ts_endpgm"
    assert count_by_class(gcn_mnemonics(gcn), GCN) == {"control": 1, "convert": 1, "mma": 1, "shared_load": 1}


@pytest.mark.parametrize(
    ("switch", "target"), [("base", "hip"), ("no_llvm_opt", "hip"), ("no_ptxas_opt", "cuda")]
)
def test_every_instruction_of_a_real_kernel_has_a_class(compiled: Path, switch: str, target: str) -> None:
    counts = static_cost(variant(compiled, switch, target, "mm"))["instructions"]
    assert "other" not in counts
    assert sum(counts.values()) > 50


def test_a_tool_named_by_the_environment_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvdisasm"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("TRITON_NVDISASM_PATH", str(tool))
    find_tool.cache_clear()
    assert find_tool("nvdisasm") == str(tool)
    find_tool.cache_clear()
