from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.ir.ir_helpers import facts
from zlbench_core.commands.cli import main
from zlbench_core.errors import ArchiveError
from zlbench_core.ir.writer import ArchiveWriter
from zlbench_core.judge.ir import disassembly
from zlbench_core.judge.ir.compare import compare_archives
from zlbench_core.judge.ir.diff import diff_archives
from zlbench_core.judge.ir.text import diff_text

Archive = Callable[..., Path]


def text_of(a: Path, b: Path, **options: object) -> str:
    shown = {name: options.pop(name) for name in ("colour", "brief") if name in options}
    return diff_text(diff_archives(a, b, **options), **shown)


def test_the_first_differing_stage_is_shown_without_locations(compiled: Path) -> None:
    text = text_of(compiled / "base" / "cuda", compiled / "f32_ieee" / "cuda")
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


@pytest.mark.parametrize(("target", "told"), [("cuda", "mma 8 -> 0 (-8)"), ("hip", "mma 8 -> 16 (+8)")])
def test_the_static_cost_stands_beside_the_difference(compiled: Path, target: str, told: str) -> None:
    lines = text_of(compiled / "base" / target, compiled / "f32_ieee" / target, brief=True).splitlines()
    assert len(lines) == 3
    assert lines[1].startswith("  static cost ")
    assert told in lines[1]
    assert "not known" not in lines[1]


def test_a_stage_that_is_asked_for_is_shown_instead_of_the_first(compiled: Path) -> None:
    sides = compiled / "base" / "cuda", compiled / "f32_ieee" / "cuda"
    assert "--- a/mm.ptx" in text_of(*sides, stage="ptx")
    with pytest.raises(ArchiveError, match=r"stage 'hsaco' of kernel mm was not captured.*ttir, ttgir, llir"):
        text_of(*sides, stage="hsaco")


def test_a_changed_cubin_is_shown_by_its_attributes_and_instructions(compiled: Path) -> None:
    text = text_of(compiled / "base" / "cuda", compiled / "no_ptxas_opt" / "cuda", kernel="mm")
    assert "-.nv.info REGCOUNT mm " in text
    assert "-STG.E desc[UR" in text
    assert "scale" not in text


def test_without_a_disassembler_the_sections_are_shown_and_the_reason(
    compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disassembly, "find_tool", lambda name: None)
    text = text_of(compiled / "base" / "cuda", compiled / "no_ptxas_opt" / "cuda", kernel="mm")
    assert "-.text.mm " in text
    assert "(no disassembly: nvdisasm is neither beside Triton nor on PATH)" in text
    assert "instructions not known: nvdisasm is neither beside Triton nor on PATH" in text


def test_equal_code_is_one_line(compiled: Path) -> None:
    text = text_of(compiled / "base" / "hip", compiled / "no_line_info" / "hip")
    assert text == "0 of 2 variants differ, 0 only in a, 0 only in b, 2 differ in locations alone\n"


def test_colour_marks_what_went_and_what_came(archive: Archive) -> None:
    a = archive("a", {"add": {"ttir": b"module {\nold\n-- x\n}"}})
    b = archive("b", {"add": {"ttir": b"module {\nnew\n}"}})
    text = text_of(a, b, colour=True)
    assert "\x1b[31m-old\x1b[0m\n\x1b[31m--- x\x1b[0m\n\x1b[32m+new\x1b[0m\n" in text
    assert "\x1b[1m--- a/add.ttir\x1b[0m\n" in text
    assert "\x1b" not in text_of(a, b)


def test_what_a_terminal_would_obey_does_not_reach_it(archive: Archive) -> None:
    a = archive("a", {"add": {"ttir": "module {\nx\x1b]0;title\x07\r\u202e\u009b31m\n}".encode()}})
    b = archive("b", {"add": {"ttir": b"module {\ny\n}"}})
    for colour in (False, True):
        shown = text_of(a, b, colour=colour)
        assert not {"\x07", "\r", "\u202e", "\u009b"} & set(shown)
        assert "\x1b]" not in shown
        assert "-x\ufffd]0;title" in shown


def test_a_variant_of_one_side_is_named(archive: Archive) -> None:
    kernel = {"ttir": b"t", "ttgir": b"g"}
    lines = text_of(archive("a", {"add": kernel}), archive("b", {"add": kernel, "mul": kernel})).splitlines()
    assert lines[0].startswith("mul(x: *fp32, n: i32) [BLOCK=128, num_warps=4")
    assert lines[0].endswith(": only in b")
    assert lines[1] == "  static cost not known: no reader for the stages ttir, ttgir"
    assert lines[2] == "0 of 1 variants differ, 0 only in a, 1 only in b, 0 differ in locations alone"


def test_the_one_kernel_of_each_side_without_a_counterpart_is_paired_with_the_other(archive: Archive) -> None:
    a = archive("a", {"add": {"ttir": b"t", "ttgir": b"g"}, "mul": {"ttir": b"m", "ttgir": b"m"}})
    b = archive("b", {"add_fast": {"ttir": b"u", "ttgir": b"g"}, "mul": {"ttir": b"m", "ttgir": b"m"}})
    for kernel in (None, "add", "add_fast"):
        lines = text_of(a, b, kernel=kernel).splitlines()
        assert lines[0].startswith("add of a and add_fast of b have no counterpart by name")
        assert lines[1].endswith(": first differs at ttir, differs at ttir")
        assert " -> add_fast(x: *fp32, n: i32) [" in lines[1]
        assert lines[3:5] == ["--- a/add.ttir", "+++ b/add_fast.ttir"]
    assert diff_archives(a, b).to_json()["renamed"] == ["add", "add_fast"]
    assert diff_archives(a, b, kernel="mul").to_json()["renamed"] is None


def test_variants_of_renamed_kernels_meet_the_likest(tmp_path: Path) -> None:
    plain, divisible = {"attributes": {}}, {}
    for name, order in (("a", [plain, divisible]), ("b", [divisible, plain])):
        writer = ArchiveWriter(tmp_path / name)
        for traits in order:
            writer.add(facts(f"kernel_{name}", constexprs={"2": name}, **traits), {"ttir": name.encode()}, ())
        writer.finish()
    pairs = diff_archives(tmp_path / "a", tmp_path / "b").result.pairs
    assert len(pairs) == 2
    assert all(pair.a.config["attributes"] == pair.b.config["attributes"] for pair in pairs)


def test_nothing_that_could_be_compared_is_told_with_both_sides_kernels(archive: Archive) -> None:
    kernel = {"ttir": b"t"}
    a, b = archive("a", {"add": kernel, "sub": kernel}), archive("b", {"mul": kernel})
    told = "no kernel of either side has a counterpart on the other: a compiled add, sub; b compiled mul"
    assert text_of(a, b).splitlines()[-1] == told
    assert compare_archives([a], [b]).reason == told
    assert compare_archives([a], [archive("c", {"add": kernel})]).reason is None


def test_an_unknown_kernel_and_an_unknown_answer_are_errors(archive: Archive, tmp_path: Path) -> None:
    a = archive("a", {"add": {"ttir": b"t", "ttgir": b"g"}})
    with pytest.raises(ArchiveError, match="kernel 'mm' is in neither archive; there are add"):
        diff_archives(a, a, kernel="mm")
    with pytest.raises(ArchiveError, match="does not exist"):
        diff_archives(a, tmp_path / "nowhere")


def test_a_kernel_whose_stages_are_missing_is_not_the_same_because_another_differs(archive: Archive) -> None:
    pipeline = ("ttir", "cubin")
    lone = {"cubin": b"\x00\xff"}
    a = archive("a", {"add": lone, "mul": {"ttir": b"t", "cubin": b"\x00\xff"}}, pipeline)
    b = archive("b", {"add": lone, "mul": {"ttir": b"u", "cubin": b"\x00\xff"}}, pipeline)
    assert len(diff_archives(a, b).variants) == 1
    with pytest.raises(ArchiveError, match="stages of add were not captured"):
        diff_archives(a, b, kernel="add")


def test_the_command_answers_as_diff_does(compiled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base, ieee, lines, binary = (
        str(compiled / switch / "cuda") for switch in ("base", "f32_ieee", "no_line_info", "binary_only")
    )
    assert main(["ir", "diff", base, lines]) == 0
    assert main(["ir", "diff", base, ieee, "--kernel", "scale"]) == 0
    assert main(["ir", "diff", base, ieee]) == 1
    out, err = capsys.readouterr()
    assert ("\x1b" in out, err) == (False, "")
    assert main(["ir", "diff", base, ieee, "--color", "always"]) == 1
    assert "\x1b[31m-" in capsys.readouterr().out
    assert main(["ir", "diff", binary, binary]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("zlbench: stages of mm were not captured")
    assert err.count("\n") == 1


def test_the_commands_json_holds_cost_and_diff(compiled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base, ieee = (str(compiled / switch / "cuda") for switch in ("base", "f32_ieee"))
    assert main(["ir", "diff", base, ieee, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    [variant] = found["variants"]
    assert (found["same"], found["first_stage"], variant["stage"]) == (False, "ttir", "ttir")
    assert variant["cost"]["change"]["instructions.mma"] == -8
    assert variant["diff"][0] == "--- a/mm.ttir"


def test_the_cost_command_prints_a_line_per_variant(
    compiled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = str(compiled / "base" / "cuda")
    assert main(["ir", "cost", base]) == 0
    heading, _, mm, scale = capsys.readouterr().out.splitlines()
    assert heading.split()[:4] == ["kernel", "variant", "registers", "spills"]
    assert (mm.split()[0], scale.split()[0]) == ("mm", "scale")
    assert "K=32, M=32, N=32, num_warps=4" in mm
    assert main(["ir", "cost", base, "--kernel", "mm", "--json"]) == 0
    [entry] = json.loads(capsys.readouterr().out)
    assert entry["cost"]["instructions"]["mma"] == 8
    assert main(["ir", "cost", base, "--kernel", "nobody"]) == 1
    assert "no kernel nobody in" in capsys.readouterr().err
