from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.ir.ir_helpers import facts
from zlbench_core.ir.writer import ArchiveWriter
from zlbench_core.judge.ir.compare import compare_archives
from zlbench_core.judge.ir.gate import gate

PIPELINE = ("ttir", "ttgir", "cubin")
Archive = Callable[..., Path]


def stages(ttir: str = "a", ttgir: str = "b", cubin: bytes = b"\x00\xff", loc: int = 1) -> dict[str, bytes]:
    text = '#loc = loc("k.py":{}:0)\nmodule {{\n  "{}"() loc(#loc)\n}}\n'
    return {
        "ttir": text.format(loc, ttir).encode(),
        "ttgir": text.format(loc, ttgir).encode(),
        "cubin": cubin,
    }


@pytest.mark.parametrize(
    ("switch", "target", "verdict", "first_stage", "different", "only_locations"),
    [
        ("f32_ieee", "cuda", "different", "ttir", ["mm"], 0),
        ("f32_ieee", "hip", "different", "ttir", ["mm"], 0),
        ("no_llvm_opt", "cuda", "different", "llir", ["mm", "scale"], 0),
        ("no_llvm_opt", "hip", "different", "llir", ["mm", "scale"], 0),
        ("no_ptxas_opt", "cuda", "different", "cubin", ["mm", "scale"], 0),
        ("no_ptxas_opt", "hip", "identical", None, [], 0),
        ("no_line_info", "cuda", "identical", None, [], 2),
        ("no_line_info", "hip", "identical", None, [], 2),
        ("moved", "cuda", "identical", None, [], 2),
        ("moved", "hip", "identical", None, [], 2),
    ],
)
def test_a_real_switch_is_named_by_the_first_stage_that_it_changes(
    compiled: Path,
    tmp_path: Path,
    switch: str,
    target: str,
    verdict: str,
    first_stage: str | None,
    different: list[str],
    only_locations: int,
) -> None:
    sides = [compiled / "base" / target], [compiled / switch / target]
    document = gate("mm", *sides, tmp_path / "ir_gate.json")
    assert (document["verdict"], document["first_stage"]) == (verdict, first_stage)
    assert [row["kernel"] for row in document["variants"] if row["first_stage"]] == different
    assert document["only_locations"] == only_locations
    assert document["marker"] == ("SWITCH_NO_IR_DIFF" if verdict == "identical" else None)
    assert json.loads((tmp_path / "ir_gate.json").read_text()) == document


@pytest.mark.parametrize("target", ["cuda", "hip"])
def test_binaries_alone_are_never_called_identical(compiled: Path, target: str) -> None:
    for sides in (("base", "binary_only"), ("binary_only", "binary_only")):
        result = compare_archives(*[[compiled / side / target] for side in sides])
        assert result.verdict == "unknown"
        assert "side b lacks ttir, ttgir, llir" in result.reason
        assert "TRITON_STORE_BINARY_ONLY" in result.reason


def test_a_changed_binary_is_a_difference_though_its_stages_are_missing(archive: Archive) -> None:
    a = archive("a", {"add": {"cubin": b"\x00\xff"}}, PIPELINE)
    b = archive("b", {"add": {"cubin": b"\x01\xff"}}, PIPELINE)
    result = compare_archives([a], [b])
    assert (result.verdict, result.first_stage) == ("different", "cubin")
    assert result.pairs[0].missing == {"a": ["ttir", "ttgir"], "b": ["ttir", "ttgir"]}


def test_the_earliest_stage_over_all_variants_is_named(archive: Archive) -> None:
    a = archive("a", {"add": stages(), "mul": stages(), "sub": stages()}, PIPELINE)
    b = archive("b", {"add": stages(cubin=b"\x01\xff"), "mul": stages(ttgir="c"), "sub": stages()}, PIPELINE)
    result = compare_archives([a], [b])
    assert result.first_stage == "ttgir"
    assert [pair.first_stage for pair in result.pairs] == ["cubin", "ttgir", None]
    assert result.counts == {"compared": 3, "identical": 1, "different": 2, "only_in_a": 0, "only_in_b": 0}


def test_a_lone_binary_does_not_make_its_stage_the_earliest(archive: Archive) -> None:
    lone, full = {"cubin": b"\x02\xff"}, stages(ttir="c", cubin=b"\x02\xff")
    a, b = (
        archive("a", {"add": lone, "mul": stages()}),
        archive("b", {"add": {"cubin": b"\x03\xff"}, "mul": full}),
    )
    assert compare_archives([a], [b]).first_stage == "ttir"


def test_a_stage_may_differ_and_the_binary_not(archive: Archive) -> None:
    result = compare_archives([archive("a", {"add": stages()})], [archive("b", {"add": stages(ttir="c")})])
    assert result.pairs[0].differing == ["ttir"]


def test_a_changed_set_of_variants_is_a_difference(archive: Archive, tmp_path: Path) -> None:
    a = archive("a", {"add": stages(), "mul": stages()})
    b = archive("b", {"add": stages(), "sub": stages()})
    document = gate("op", [a], [b], tmp_path / "gate.json")
    assert (document["verdict"], document["first_stage"], document["marker"]) == ("different", None, None)
    only = {
        row["kernel"]: (row["only_in"], row["a"] is None, row["b"] is None) for row in document["variants"]
    }
    assert only == {"add": (None, False, False), "mul": ("a", False, True), "sub": ("b", True, False)}


def test_runs_of_one_side_are_taken_together(archive: Archive, tmp_path: Path) -> None:
    a = [archive("a1", {"add": stages()}), archive("a2", {"add": stages(loc=7), "mul": stages()})]
    b = [archive("b1", {"mul": stages(), "add": stages(loc=3)})]
    result = compare_archives(a, b)
    assert (result.verdict, result.only_locations) == ("identical", 1)
    indices = [str(run / "ir" / "index.json") for run in (*a, *b)]
    assert [name for name, _ in result.digests] == indices
    document = gate("op", a, b, tmp_path / "gate.json")
    assert document["sides"] == {"a": [str(run) for run in a], "b": [str(run) for run in b]}
    assert list(document["digests"]) == indices


def test_variants_of_one_identity_are_paired_by_content_before_order(tmp_path: Path) -> None:
    def write(name: str, contents: list[tuple[int, str]]) -> Path:
        writer = ArchiveWriter(tmp_path / name)
        for waves, text in contents:
            writer.add(facts("add", options={"waves_per_eu": waves}), stages(ttir=text), PIPELINE)
        writer.finish()
        return tmp_path / name

    a = write("a", [(0, "x"), (2, "y")])
    assert compare_archives([a], [write("swapped", [(2, "y"), (0, "x")])]).verdict == "identical"
    changed = compare_archives([a], [write("changed", [(0, "x"), (2, "z")])])
    assert [pair.first_stage for pair in changed.pairs] == [None, "ttir"]
    assert compare_archives([a], [write("fewer", [(0, "x")])]).counts["only_in_a"] == 1


def test_nothing_captured_is_unknown_and_says_where(archive: Archive, tmp_path: Path) -> None:
    full, empty = archive("full", {"add": stages()}), archive("empty", {})
    document = gate("op", [full], [empty], tmp_path / "gate.json")
    assert (document["verdict"], document["marker"]) == ("unknown", None)
    assert document["reason"] == "nothing was captured on side b"
    assert compare_archives([empty], [empty]).reason == "nothing was captured on side a and side b"
    assert compare_archives([], [full]).verdict == "unknown"


def test_a_missing_or_failed_archive_is_unknown(archive: Archive, tmp_path: Path) -> None:
    full = archive("full", {"add": stages()})
    assert "does not exist" in compare_archives([full], [tmp_path / "nowhere"]).reason
    writer = ArchiveWriter(tmp_path / "failed")
    writer.fail("pytest ended early, with exit code 2")
    writer.finish()
    result = compare_archives([tmp_path / "failed"], [full])
    assert result.verdict == "unknown"
    assert "pytest ended early" in result.reason
