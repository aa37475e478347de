from __future__ import annotations

import json

import pytest

from zlbench_core.errors import ReadError
from zlbench_core.results.reader import read_run

DIRECT, REPLAY = "BENCHMARK_DIRECT_NO_CUDAGRAPH", "AUTOTUNE_REPLAY_FALLBACK"


def report(op="mm", latency=0.1, base=0.2, node="benchmark/test_mm.py::test_mm", dtype="torch.float16"):
    row = {"shape_detail": [[8]], "latency_base": base, "latency": latency, "speedup": base / latency}
    details = [{"op_name": op, "dtype": dtype, "mode": "kernel", "level": "core", "result": [row]}]
    return {op: {"details": details, "result": "passed", "test_case": node, "reason": None}}


def test_json_and_log_that_differ_only_by_rounding_agree(make_run, session, block):
    result = read_run(make_run(log=session(block()), report=report(latency=0.1000004, base=0.2000004)))
    assert [row.latency for row in result.rows] == [0.1000004]
    assert (result.notes, result.source) == ((), "json+log")


def test_a_difference_beyond_rounding_is_named_and_the_json_wins(make_run, session, block):
    result = read_run(make_run(log=session(block()), report=report(latency=0.100002)))
    assert [row.latency for row in result.rows] == [0.100002]
    assert result.notes == (
        "mm torch.float16 kernel: result.json and the log disagree in 1 of 1 rows: [[8]]",
    )


def test_an_older_report_that_the_suite_merged_into_is_told_by_the_log(make_run, session, block):
    merged = {**report("old", node="benchmark/test_old.py::test_old"), **report()}
    result = read_run(make_run(log=session(block()), report=merged))
    assert [row.op for row in result.rows] == ["mm"]
    assert "1 entries of another run were left out (merged report): old" in result.notes[0]


def test_an_older_report_is_told_by_the_identitys_test_node_where_the_log_has_no_table(make_run, session):
    merged = {**report("old", node="benchmark/test_old.py::test_old"), **report()}
    identity = {"test_node": "benchmark/test_mm.py::test_mm"}
    result = read_run(make_run(log=session(""), report=merged, identity=identity))
    assert [row.op for row in result.rows] == ["mm"]
    assert "old" in result.notes[0]


def test_a_merged_failure_that_the_log_does_not_count_is_another_runs(make_run, session, block):
    old = {"fft": {"result": "failed", "test_case": "benchmark/test_fft.py::test_fft", "reason": "boom"}}
    result = read_run(make_run(log=session(block()), report={**old, **report()}))
    assert result.failures == ()
    assert "fft" in result.notes[0]


def test_a_merged_skip_that_the_log_does_not_count_is_another_runs(make_run, session, block):
    old = {"fft": {"result": "skipped", "test_case": "benchmark/test_fft.py::test_fft", "reason": "no cuda"}}
    assert read_run(make_run(log=session(block()), report={**old, **report()})).skipped == ()


def test_a_report_beside_a_log_that_breaks_off_is_an_older_runs(make_run, session, block):
    log = session(block()).rpartition("\n=")[0]
    result = read_run(make_run(log=log, report=report(latency=0.05)))
    assert [row.latency for row in result.rows] == [0.1]
    assert result.cut_off
    assert "older run's" in result.notes[0]


def test_a_block_that_only_the_log_holds_is_added_and_named(make_run, session, block):
    """Upstream, ParallelBlasBenchmark prints its tables and never hands them to the report."""
    result = read_run(make_run(log=session(block() + block(op="bmm")), report=report()))
    assert [row.op for row in result.rows] == ["mm", "bmm"]
    assert result.notes == ("bmm torch.float16 kernel: only in the log, not in result.json",)


def test_rows_missing_from_one_reading_of_a_block_are_named(make_run, session, block):
    rows = [("[torch.Size([8])]", 0.2, 0.1), ("[torch.Size([9])]", 0.2, 0.1)]
    result = read_run(make_run(log=session(block(rows=rows)), report=report()))
    assert "result.json has 1 rows, the log 2" in result.notes[0]


def test_an_invalid_report_is_named_and_the_log_read(make_run, session, block):
    result = read_run(make_run(log=session(block()), report='{"mm": '))
    assert ([row.latency for row in result.rows], result.source) == ([0.1], "log")
    assert "cannot read result file" in result.notes[0]


def test_records_and_tables_in_one_log_are_the_same_rows(make_run, session, block):
    record = json.dumps(report(latency=0.1000001)["mm"]["details"][0])
    result = read_run(make_run(log=session(f"{block()}[INFO] {record}\n")))
    assert [row.latency for row in result.rows] == [0.1000001]
    assert result.notes == ()


def test_the_report_alone_is_enough(make_run):
    result = read_run(make_run(report=report()))
    assert (len(result.rows), result.source, result.cut_off) == (1, "json", False)


def test_a_folder_with_nothing_in_it_is_a_read_error(make_run):
    with pytest.raises(ReadError, match=r"no run\.log and no readable result\.json"):
        read_run(make_run())
    with pytest.raises(ReadError, match="cannot read result file"):
        read_run(make_run("broken", report="{"))


def test_a_dtype_whose_table_never_came_is_partial(make_run, session, block):
    """One failing shape erases its dtype's whole table, and the dtypes after it never start."""
    failed = "F\nFAILED benchmark/test_mm.py::test_mm - RuntimeError: boom\n"
    log = session(block() + failed, "1 failed in 1.00s")
    identity = {"measurement": {"dtypes": ["float16", "float32", "bfloat16"]}}
    result = read_run(make_run(log=log, identity=identity))
    assert result.partial_dtypes == ("mm: torch.float32", "mm: torch.bfloat16")
    assert [(f.kind, f.node, f.message) for f in result.failures] == [
        ("test", "benchmark/test_mm.py::test_mm", "RuntimeError: boom")
    ]


def test_a_table_without_rows_is_partial(make_run, session, block):
    empty = block(dtype="torch.float32").rpartition("SUCCESS")[0]
    result = read_run(make_run(log=session(block() + empty)))
    assert result.partial_dtypes == ("mm: torch.float32",)


def test_failures_that_pytest_counts_and_the_log_does_not_name_are_failures(make_run, session, block):
    result = read_run(make_run(log=session(block(), "2 failed, 1 error in 1.00s")))
    assert [failure.message for failure in result.failures] == [
        "pytest counts 3 failures, of which the log names 0"
    ]


def test_a_locked_tuner_database_is_an_infrastructure_failure(make_run, session, block):
    error = "E   sqlalchemy.exc.OperationalError: (sqlite3.OperationalError) database is locked\n"
    result = read_run(make_run(log=session(block() + error * 3, "1 failed in 1.00s")))
    assert [failure.kind for failure in result.failures].count("infrastructure") == 1


@pytest.mark.parametrize("word", ["BENCHMARK_ENVIRONMENT_FAILURE", "BENCHMARK_DEVICE_FAULT"])
def test_what_the_timer_blames_on_the_machine_is_an_infrastructure_failure(make_run, session, word):
    log = session(f"{word} node=benchmark/test_mm.py::test_mm row=3: no device\n", "1 failed in 1.00s")
    failure = read_run(make_run(log=log)).failures[0]
    assert (failure.kind, failure.message.split(" ", 1)[0]) == ("infrastructure", word)


def test_a_marker_concerns_the_rows_of_the_next_table(make_run, session, block):
    log = session(block() + f"{DIRECT} op=bmm\n" + block(op="bmm") + block(op="add"))
    result = read_run(make_run(log=log))
    assert result.markers == {DIRECT: 1}
    assert {key[0]: markers for key, markers in result.row_markers.items()} == {"bmm": (DIRECT,)}


def samples_of(*calls):
    lines = [
        {
            "seq": number,
            "node": "n",
            "timer": "direct" if fallback else "cuda_graph",
            "samples_ms": [value],
            "value_ms": value,
            "fallback": fallback,
        }
        for number, (value, fallback) in enumerate(calls)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_the_timed_calls_tell_which_rows_fell_back(make_run, session, block):
    rows = [("[torch.Size([8])]", 0.2, 0.1), ("[torch.Size([9])]", 0.4, 0.3), ("[torch.Size([9])]", 0.4, 0.3)]
    folder = make_run(log=session(f"{DIRECT}\n{REPLAY} reason=key_missing\n" + block(rows=rows)))
    calls = [(0.2, None), (0.1, None), (9.0, "a shape that failed"), (0.4, None), (0.3, "refused")]
    (folder / "samples.jsonl").write_text(samples_of(*calls, (0.4, None), (0.3, None)))
    result = read_run(folder)
    assert [result.row_markers[row.key] for row in result.rows] == [(REPLAY,), (REPLAY, DIRECT), (REPLAY,)]


def test_rows_that_were_printed_are_found_by_their_rounded_values(make_run, session, block):
    folder = make_run(log=session(f"{DIRECT}\n" + block(rows=[("[1]", 0.2, 0.1), ("[2]", 0.4, 0.3)])))
    calls = [(0.2000004, None), (0.0999996, "refused"), (0.3999999, None), (0.3000001, None)]
    (folder / "samples.jsonl").write_text(samples_of(*calls))
    assert {key[3]: markers for key, markers in read_run(folder).row_markers.items()} == {"[1]": (DIRECT,)}


def test_samples_that_are_no_samples_are_a_read_error(make_run, session, block):
    folder = make_run(log=session(f"{DIRECT}\n" + block()))
    (folder / "samples.jsonl").write_text('{"seq": 0}\n')
    with pytest.raises(ReadError, match="no timed call"):
        read_run(folder)


def test_a_last_line_of_samples_that_breaks_off_is_left_out(make_run, session, block):
    folder = make_run(log=session(f"{DIRECT}\n" + block()))
    (folder / "samples.jsonl").write_text(samples_of((0.2, None), (0.1, "refused")) + '{"seq": 2, "va')
    assert list(read_run(folder).row_markers.values()) == [(DIRECT,)]


def test_two_sessions_in_one_log_are_named_and_their_failures_add_up(make_run, session, block):
    log = session(block(), "1 failed in 1.00s") + session(block(op="add"))
    result = read_run(make_run(log=log))
    assert (result.pytest_summary.failed, result.pytest_summary.passed) == (1, 1)
    assert "log: it holds 2 pytest sessions" in result.notes
