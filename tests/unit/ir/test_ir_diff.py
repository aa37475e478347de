from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from zlbench_core.errors import ArchiveError
from zlbench_core.ir import disassembly
from zlbench_core.ir.diff import diff_archives


def test_the_first_differing_stage_is_shown_without_locations(compiled: Path) -> None:
    text = diff_archives(compiled / "base" / "cuda", compiled / "f32_ieee" / "cuda")
    changed = [line for line in text.splitlines() if line.startswith(("-", "+"))]
    assert changed[:2] == ["--- a/mm.ttir", "+++ b/mm.ttir"]
    assert len(changed) == 4
    assert "inputPrecision = tf32" in changed[2]
    assert "loc(" not in text
    assert "mm(a: *fp32, b: *fp32, c: *fp32) [K=32, M=32, N=32, num_warps=4" in text
    assert "differs at ttir, ttgir, llir, ptx, cubin" in text
    assert text.splitlines()[-1].startswith(
        "1 of 2 variants differ, 0 only in a, 0 only in b, 0 differ in loc"
    )


def test_a_changed_cubin_is_shown_by_its_attributes_and_instructions(compiled: Path) -> None:
    text = diff_archives(compiled / "base" / "cuda", compiled / "no_ptxas_opt" / "cuda", kernel="mm")
    assert "-.nv.info REGCOUNT mm " in text
    assert "-STG.E desc[UR" in text
    assert "scale" not in text


def test_without_a_disassembler_the_sections_are_shown_and_the_reason(
    compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disassembly, "find_tool", lambda name: None)
    text = diff_archives(compiled / "base" / "cuda", compiled / "no_ptxas_opt" / "cuda", kernel="mm")
    assert "-.text.mm " in text
    assert "(no disassembly: nvdisasm is neither beside Triton nor on PATH)" in text


def test_equal_code_is_one_line(compiled: Path) -> None:
    text = diff_archives(compiled / "base" / "hip", compiled / "no_line_info" / "hip")
    assert text == "0 of 2 variants differ, 0 only in a, 0 only in b, 2 differ in locations alone\n"


def test_colour_marks_what_went_and_what_came(archive: Callable[..., Path]) -> None:
    a, b = (
        archive("a", {"add": {"ttir": b"module {\nold\n}"}}),
        archive("b", {"add": {"ttir": b"module {\nnew\n}"}}),
    )
    text = diff_archives(a, b, colour=True)
    assert "\x1b[31m-old\x1b[0m\n\x1b[32m+new\x1b[0m\n" in text
    assert "\x1b" not in diff_archives(a, b)


def test_control_characters_of_a_stage_do_not_reach_the_terminal(archive: Callable[..., Path]) -> None:
    a = archive("a", {"add": {"ttir": b"module {\nx\x1b]0;title\x07\r\n}"}})
    b = archive("b", {"add": {"ttir": b"module {\ny\n}"}})
    assert not {"\x1b", "\x07", "\r"} & set(diff_archives(a, b))


def test_a_variant_of_one_side_is_named(archive: Callable[..., Path]) -> None:
    a, b = (
        archive("a", {"add": {"ttir": b"t", "ttgir": b"g"}}),
        archive("b", {"mul": {"ttir": b"t", "ttgir": b"g"}}),
    )
    lines = diff_archives(a, b).splitlines()
    assert lines[0].startswith("add(x: *fp32, n: i32) [BLOCK=128, num_warps=4")
    assert lines[0].endswith(": only in a")
    assert lines[1].endswith(": only in b")


def test_an_unknown_kernel_and_an_unknown_answer_are_errors(
    archive: Callable[..., Path], tmp_path: Path
) -> None:
    a = archive("a", {"add": {"ttir": b"t", "ttgir": b"g"}})
    with pytest.raises(ArchiveError, match="kernel 'mm' is in neither archive; there are add"):
        diff_archives(a, a, kernel="mm")
    with pytest.raises(ArchiveError, match="does not exist"):
        diff_archives(a, tmp_path / "nowhere")
