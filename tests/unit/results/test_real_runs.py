"""Every run in tests/data/flaggems-h200, with what stands in it."""

from __future__ import annotations

import pytest

from zlbench_core.results.log_reader import read_log
from zlbench_core.results.reader import read_run
from zlbench_core.results.rows import number_occurrences
from zlbench_core.results.status import operator_status

F16, F32, BF16 = "torch.float16", "torch.float32", "torch.bfloat16"
CUT = "stopped by the time limit"

# name: blocks (op, dtype, rows), mode, source, pytest (passed, failed), rc, status, failures of tests
RUNS = {
    "cg_dropout": (
        [("dropout", F16, 5), ("native_dropout_backward", F16, 5)],
        "cudagraph",
        "json+log",
        (2, 0),
        0,
        "ok",
        [],
    ),
    "cg_layer_norm": (
        [("native_layer_norm", F16, 5), ("layer_norm", F16, 5)],
        "cudagraph",
        "log",
        None,
        124,
        "timeout",
        [],
    ),
    "cg_rand": ([("rand", F16, 5)], "cudagraph", "json+log", (1, 0), 0, "ok", []),
    "cg_softmax": (
        [("softmax", F16, 5)],
        "cudagraph",
        "json+log",
        (1, 3),
        1,
        "partial",
        ["softmax_backward", "softmax_backward_out", "softmax_out"],
    ),
    "cg_sort": ([("sort", F16, 5), ("sort_stable", F16, 5)], "cudagraph", "json+log", (2, 0), 0, "ok", []),
    "cg_unique": ([], None, "none", (0, 1), 1, "failed", ["unique2"]),
    "k_layer_norm": (
        [("native_layer_norm", F16, 5), ("layer_norm", F16, 5), ("layer_norm_backward", F16, 5)],
        "kernel",
        "json+log",
        (3, 0),
        0,
        "ok",
        [],
    ),
    "k_sort": ([("sort", F16, 5), ("sort_stable", F16, 5)], "kernel", "json+log", (2, 0), 0, "ok", []),
    "mm1": ([("mm", F16, 5)], "kernel", "log", None, 124, "timeout", []),
    "mm2": ([("mm", F16, 5), ("mm", F32, 5)], "kernel", "log", None, 124, "timeout", []),
    "mm_async": (
        [("mm", F16, 5), ("mm", F32, 5), ("mm", BF16, 5)],
        "kernel",
        "json+log",
        (1, 0),
        0,
        "ok",
        [],
    ),
    "mm_inherit": (
        [("mm", F16, 5), ("mm", F32, 5), ("mm", BF16, 5)],
        "kernel",
        "json+log",
        (1, 0),
        0,
        "ok",
        [],
    ),
    "softmax1": ([("softmax", F16, 5)], "kernel", "log", None, None, "crashed", []),
}


def test_every_run_is_pinned(h200):
    assert {path.name for path in h200.iterdir() if path.is_dir()} == set(RUNS)


@pytest.mark.parametrize("name", RUNS)
def test_rows_failures_and_end_of_a_real_run(h200, name):
    blocks, mode, source, counts, exit_code, status, failed = RUNS[name]
    result = read_run(h200 / name)
    counted = {}
    for row in result.rows:
        counted[row.op, row.dtype] = counted.get((row.op, row.dtype), 0) + 1
    assert [(*key, count) for key, count in counted.items()] == blocks
    assert {row.mode for row in result.rows} == ({mode} if mode else set())
    assert all(row.level == "core" and row.usable and row.latency_base and row.speedup for row in result.rows)
    assert result.source == source
    summary = result.pytest_summary
    assert (summary and (summary.passed, summary.failed)) == counts
    assert result.cut_off == (counts is None)
    assert result.exit_code == exit_code
    assert [failure.op for failure in result.failures if failure.kind == "test"] == failed
    assert operator_status(result).status == status
    assert result.notes == ()
    assert result.markers == {}


@pytest.mark.parametrize("name", [name for name, run in RUNS.items() if run[2] == "json+log"])
def test_json_and_log_of_a_real_run_agree(h200, name):
    """The same keys, and each printed number is the rounded one of the JSON."""
    folder = h200 / name
    exact = {row.key: row for row in read_run(folder).rows}
    log = next(folder.glob("run.log*"))
    printed = {row.key: row for row in read_log(log).table}
    assert exact.keys() == printed.keys()
    for key, row in printed.items():
        assert f"{exact[key].latency:.6f}" == f"{row.latency:.6f}"
        assert f"{exact[key].latency_base:.6f}" == f"{row.latency_base:.6f}"
        assert f"{exact[key].speedup:.3f}" == f"{row.speedup:.3f}"
        assert (exact[key].tflops is None) == (row.tflops is None)


def test_json_keeps_the_digits_that_the_log_rounds(h200):
    row = read_run(h200 / "k_sort").rows[0]
    assert (row.op, row.size) == ("sort", '[[[64, 64]], {"dim": -1, "descending": false}]')
    assert row.latency != round(row.latency, 6)
    assert round(row.latency, 6) == 1.867744


def test_a_shape_that_the_suite_yields_twice_has_two_occurrences(h200):
    big = "[[4096, 4096], [4096, 4096]]"
    rows = [row for row in read_run(h200 / "mm1").rows if row.size == big]
    assert [(row.occurrence, row.latency) for row in rows] == [(0, 0.229312), (1, 0.24872)]


def test_reasons_of_the_refused_capture_and_of_what_it_broke(h200):
    reasons = [
        failure.message for failure in read_run(h200 / "cg_softmax").failures if failure.kind == "test"
    ]
    broken = "Failed: Offset increment outside graph capture encountered unexpectedly."
    assert reasons == [
        "Failed: CUDA error: operation failed due to a previous error during capture",
        broken,
        broken,
    ]


def test_the_log_alone_gives_whole_reasons_where_the_short_summary_cuts_them(h200):
    failures = read_log(h200 / "cg_softmax" / "run.log").failures
    assert [failure.kind for failure in failures] == ["event", "event", "test", "test", "test"]
    assert (
        failures[2].message == "Failed: CUDA error: operation failed due to a previous error during capture"
    )
    assert failures[2].node == "benchmark/test_softmax.py::test_softmax_backward"


def test_the_suites_failed_line_gives_an_operator_and_no_dtype(h200):
    events = [failure for failure in read_run(h200 / "cg_softmax").failures if failure.kind == "event"]
    assert [event.op for event in events] == ["softmax_backward_out", "softmax_out"]
    assert "{dtype}" in events[0].message


def test_statuses_say_how_far_a_stopped_run_came(h200):
    assert operator_status(read_run(h200 / "mm2")).reason == f"{CUT} after 10 rows ({F16}, {F32})"
    assert operator_status(read_run(h200 / "softmax1")).reason == f"the log breaks off after 5 rows ({F16})"


def test_dtypes_asked_for_and_never_reached_are_named(h200):
    asked = ("float16", "float32", "bfloat16")
    assert read_run(h200 / "mm2", dtypes=asked).partial_dtypes == ("mm: torch.bfloat16",)
    assert read_run(h200 / "mm1", dtypes=asked).partial_dtypes == ("mm: torch.float32", "mm: torch.bfloat16")
    assert read_run(h200 / "mm_async", dtypes=asked).partial_dtypes == ()


def test_rows_are_numbered_the_same_again(h200):
    rows = read_run(h200 / "mm_async").rows
    assert tuple(number_occurrences(rows)) == rows
