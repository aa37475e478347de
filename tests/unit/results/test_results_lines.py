from __future__ import annotations

from dataclasses import replace

from zlbench_core.results.fallbacks import DIRECT, REPLAY
from zlbench_core.results.lines import SideRun, ab_lines, ab_summary, one_sided_summary, status_line
from zlbench_core.results.rows import PytestSummary, Row, RunResult, number_occurrences
from zlbench_core.results.tables import write_ab, write_status, write_summary

IDENTITY = {"backend": "cuda", "device": "H200", "gpu": "0", "timer": "cuda_graph", "pytest_exit": 0}
BASE = 0.4


def run(side, number, *sizes, markers=None, identity=None, **fields):
    """A green run with rows (size, latency in ms); `markers`: size -> markers of its first row."""
    rows = number_occurrences(
        Row("mm", "torch.float16", "kernel", "core", size, latency_base=BASE, latency=latency)
        if latency is None
        else Row("mm", "torch.float16", "kernel", "core", size, 0, "SUCCESS", BASE, latency, BASE / latency)
        for size, latency in sizes
    )
    row_markers = {row.key: (markers or {})[row.size] for row in rows if row.size in (markers or {})}
    result = RunResult(
        rows=tuple(rows), pytest_summary=PytestSummary(passed=1), row_markers=row_markers, **fields
    )
    order = "AB" if number % 2 else "BA"
    return SideRun(side, number, result, IDENTITY if identity is None else identity, order)


ROUNDS = [
    run("a", 1, ("X", 1.0), ("Y", 2.0)),
    run("b", 1, ("X", 0.5), ("Y", 2.0)),
    run("a", 2, ("X", 1.0), ("Y", 4.0)),
    run("b", 2, ("X", 0.8), ("Y", 2.0)),
    run("a", 3, ("X", 2.0), ("Y", 2.0)),
    run("b", 3, ("X", 1.2), ("Y", 2.0)),
]


def test_ab_has_a_line_for_each_row_and_round():
    lines = ab_lines("mm", ROUNDS)
    assert [(line["round"], line["order"], line["size"], line["ratio"]) for line in lines] == [
        (1, "AB", "X", 0.5),
        (1, "AB", "Y", 1.0),
        (2, "BA", "X", 0.8),
        (2, "BA", "Y", 0.5),
        (3, "AB", "X", 0.6),
        (3, "AB", "Y", 1.0),
    ]


def test_the_summary_of_an_ab_campaign_is_the_median_and_the_range_over_rounds():
    first, second = ab_summary("mm", ROUNDS, ab_lines("mm", ROUNDS))
    assert (first["size"], first["rounds"], first["ratio"]) == ("X", 3, 0.6)
    assert (first["ratio_min"], first["ratio_max"]) == (0.5, 0.8)
    assert (first["latency_a_ms"], first["latency_b_ms"]) == (1.0, 0.8)
    assert (second["ratio"], second["note"], second["fallback"]) == (1.0, "", [])
    assert (first["backend"], first["device"], first["timer"]) == ("cuda", "H200", "cuda_graph")


def test_a_row_that_only_one_side_fell_back_for_has_no_ratio_and_says_so():
    runs = [
        run("a", 1, ("X", 1.0)),
        run("b", 1, ("X", 0.5), markers={"X": (DIRECT,)}),
        run("a", 2, ("X", 1.0)),
        run("b", 2, ("X", 0.9)),
    ]
    lines = ab_lines("mm", runs)
    assert [line["ratio"] for line in lines] == [None, 0.9]
    assert (lines[0]["marker_a"], lines[0]["marker_b"]) == ((), (DIRECT,))
    (summary,) = ab_summary("mm", runs, lines)
    assert (summary["rounds"], summary["ratio"], summary["ratio_min"]) == (1, 0.9, 0.9)
    assert summary["fallback"] == [f"b: {DIRECT}"]
    assert summary["note"] == f"excluded: only b fell back to the direct timer ({DIRECT})"


def test_rows_that_both_sides_fell_back_for_are_compared_and_annotated():
    runs = [run(side, 1, ("X", 1.0), markers={"X": (DIRECT,)}) for side in "ab"]
    (summary,) = ab_summary("mm", runs, ab_lines("mm", runs))
    assert (summary["ratio"], summary["fallback"]) == (1.0, [f"a: {DIRECT}", f"b: {DIRECT}"])


def test_a_launch_without_its_pin_is_compared_on_neither_side():
    for where in ("a", "b", "ab"):
        runs = [run(s, 1, ("X", 1.0), markers={"X": (REPLAY,)} if s in where else None) for s in "ab"]
        (line,) = ab_lines("mm", runs)
        assert line["ratio"] is None
        assert REPLAY in line["note"]


def test_rows_that_do_not_pair_are_lines_with_a_reason():
    runs = [run("a", 1, ("X", 1.0), ("Y", 1.0), ("Y", 1.0)), run("b", 1, ("Y", 1.0), ("Z", 1.0))]
    assert {line["size"]: line["note"] for line in ab_lines("mm", runs)} == {
        "X": "excluded: b has no such row",
        "Z": "excluded: a has no such row",
        "Y": "excluded: a has 2 rows of this size, b has 1",
    }
    assert [line["ratio"] for line in ab_summary("mm", runs, ab_lines("mm", runs))] == [None] * 3


def test_a_round_whose_other_side_left_nothing_names_its_rows():
    lines = ab_lines("mm", [run("a", 1, ("X", 1.0)), SideRun("b", 1, None)])
    assert [(line["size"], line["note"]) for line in lines] == [("X", "excluded: b has no such row")]


def test_the_summary_of_one_side_is_its_speedup_over_torch():
    runs = [run("a", 1, ("X", 1.0)), run("a", 2, ("X", 0.5)), run("a", 3, ("X", 0.8))]
    (line,) = one_sided_summary("mm", runs)
    assert (line["latency_torch_ms"], line["latency_a_ms"], line["speedup"]) == (BASE, 0.8, BASE / 0.8)
    assert (line["rounds"], line["note"], line.get("ratio")) == (3, "", None)


def test_a_row_that_some_rounds_lack_says_in_how_many_it_was_measured():
    (line,) = one_sided_summary("mm", [run("a", 1, ("X", 1.0)), run("a", 2, ("X", None))])
    assert (line["rounds"], line["latency_a_ms"]) == (1, 1.0)
    assert line["note"] == "measured in 1 of 2 rounds: no latency"


def test_rounds_that_disagree_in_how_often_a_size_occurs_give_no_number():
    (first, second) = one_sided_summary("mm", [run("a", 1, ("X", 1.0), ("X", 2.0)), run("a", 2, ("X", 2.0))])
    assert (first["latency_a_ms"], second["latency_a_ms"]) == (None, None)
    assert "rounds differ" in first["note"]


def test_redefined_columns_are_noted_beside_the_numbers():
    runs = [run("a", 1, ("X", 1.0), redefined=("mm",))]
    assert one_sided_summary("mm", runs)[0]["note"] == "columns are not torch/gems"


def test_the_worst_round_is_the_status_and_markers_add_up():
    runs = [
        with_markers(run("a", 1, ("X", 1.0)), {DIRECT: 1}),
        with_markers(run("a", 2, identity={**IDENTITY, "pytest_exit": 124}), {DIRECT: 2}),
        run("b", 1, ("X", 1.0)),
    ]
    line = status_line("mm", "a", runs)
    assert (line["status"], line["pytest_exit"], line["rows"], line["rounds"]) == ("timeout", 124, 0, 2)
    assert line["reason"] == "round 2: stopped by the time limit before the first row"
    assert line["markers"] == {DIRECT: 3}
    assert (line["backend"], line["gpu"]) == ("cuda", "0")


def with_markers(side_run, markers):
    return replace(side_run, result=replace(side_run.result, markers=markers))


def test_a_side_without_a_run_is_crashed_and_not_absent():
    line = status_line("mm", "b", [run("a", 1, ("X", 1.0))])
    assert (line["status"], line["rows"], line["rounds"]) == ("crashed", None, 0)


def test_every_line_fits_its_table(tmp_path):
    lines = ab_lines("mm", ROUNDS)
    write_ab(tmp_path / "ab.csv", lines)
    write_summary(
        tmp_path / "summary.csv", ab_summary("mm", ROUNDS, lines) + one_sided_summary("mm", ROUNDS[:1])
    )
    write_status(tmp_path / "ops_status.csv", [status_line("mm", side, ROUNDS) for side in "ab"])
