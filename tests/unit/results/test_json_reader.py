from __future__ import annotations

import json

import pytest

from zlbench_core.errors import ReadError
from zlbench_core.results import json_reader
from zlbench_core.results.json_reader import node_matches, read_json


def record(op="mm", dtype="torch.float16", **metrics):
    row = {"shape_detail": [[8]], "latency_base": 0.25, "latency": 0.125, "speedup": 2.0, "error_msg": None}
    return {"op_name": op, "dtype": dtype, "mode": "kernel", "level": "core", "result": [{**row, **metrics}]}


def entry(node="benchmark/test_mm.py::test_mm", result="passed", details=None, reason=None):
    found = {"result": result, "test_case": node, "reason": reason}
    return found if details is None else {**found, "details": details}


@pytest.fixture
def write(tmp_path):
    def write(value):
        path = tmp_path / "result.json"
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return path

    return write


def test_a_record_that_the_benchmark_stored_as_text_is_read(write):
    """Upstream, test_convert_weight_to_int4pack.py hands to_json() to the report."""
    (row,) = read_json(write({"mm": entry(details=[json.dumps(record())])})).rows
    assert (row.op, row.dtype, row.mode, row.level, row.size) == (
        "mm",
        "torch.float16",
        "kernel",
        "core",
        "[[8]]",
    )
    assert (row.latency_base, row.latency, row.speedup) == (0.25, 0.125, 2.0)


def test_entries_of_tests_that_were_not_asked_for_are_left_out_and_named(write):
    path = write(
        {
            "old": entry("benchmark/test_old.py::test_old", details=[record("old")]),
            "mm": entry(details=[record()]),
            "fft": entry("benchmark/test_fft.py::test_fft", "failed", reason="boom"),
        }
    )
    report = read_json(path, ["benchmark/test_mm.py::test_mm"])
    assert [row.op for row in report.rows] == ["mm"]
    assert report.failures == []
    assert report.foreign == ("old", "fft")
    assert "2 entries of another run" in report.notes[0]
    assert "old, fft" in report.notes[0]


def test_rows_in_an_entry_without_a_node_are_kept_until_the_report_is_known_to_be_merged(write):
    """A record's op_name need not be the test's marker: its rows then stand in an entry of their own."""
    mine = {"m1": entry("benchmark/test_z.py::test_perf_z"), "z2": {"details": [record("z2")]}}
    nodes = ["benchmark/test_z.py::test_perf_z"]
    assert [row.op for row in read_json(write(mine), nodes).rows] == ["z2"]
    merged = {**mine, "old": entry("benchmark/test_old.py::test_old")}
    assert read_json(write(merged), nodes).rows == []


@pytest.mark.parametrize(
    ("asked", "matches"),
    [
        ("benchmark/test_mm.py::test_mm", True),
        ("/fg/benchmark/test_mm.py::test_mm", True),
        ("test_mm.py::test_mm", True),
        ("./benchmark/test_mm.py", True),
        ("benchmark/test_mm.py::test_mm[float16]", False),
        ("benchmark/test_mm.py::test_m", False),
        ("benchmark/test_bmm.py::test_mm", False),
        ("m.py::test_mm", False),
    ],
)
def test_nodes_are_compared_by_the_ends_of_their_paths(asked, matches):
    assert node_matches("benchmark/test_mm.py::test_mm", asked) == matches


def test_a_parametrized_test_is_part_of_its_function():
    assert node_matches("benchmark/test_mm.py::test_mm[a-b]", "benchmark/test_mm.py::test_mm")


def test_a_record_for_each_parameter_continues_the_occurrences(write):
    report = read_json(write({"mm": entry(details=[record(), record(), record("mm", "torch.float32")])}))
    assert [(row.dtype, row.occurrence) for row in report.rows] == [
        ("torch.float16", 0),
        ("torch.float16", 1),
        ("torch.float32", 0),
    ]


@pytest.mark.parametrize("latency", ["NaN", "Infinity", "-1.5", "0", "null", "true", '"0.5"x', "1e999"])
def test_what_is_no_positive_number_is_no_latency(write, latency):
    text = json.dumps({"mm": entry(details=[record(latency=77.0)])}).replace("77.0", latency)
    if latency.endswith("x"):
        with pytest.raises(ReadError):
            read_json(write(text))
        return
    (row,) = read_json(write(text)).rows
    assert (row.latency, row.usable, row.latency_base) == (None, False, 0.25)


def test_a_tflops_of_zero_is_unknown(write):
    (row,) = read_json(write({"mm": entry(details=[record(tflops=0.0)])})).rows
    assert row.tflops is None


def test_a_row_with_an_error_failed(write):
    (row,) = read_json(write({"mm": entry(details=[record(error_msg="out of\nmemory")])})).rows
    assert (row.status, row.error, row.usable) == ("FAILED", "out of", False)


def test_skips_and_failures_keep_the_first_line_of_their_reason(write):
    path = write(
        {
            "fft": entry("b/test_fft.py::test_fft", "skipped", reason="CUDA is not available"),
            "mm": entry("b/test_mm.py::test_mm", "failed", reason="CUDA error: x\nCompile with `DSA`"),
        }
    )
    report = read_json(path)
    assert report.skipped == ["fft: CUDA is not available"]
    assert [(f.op, f.node, f.message) for f in report.failures] == [
        ("mm", "b/test_mm.py::test_mm", "CUDA error: x")
    ]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        '"text"',
        '{"mm": 1}',
        '{"mm": {"details": {}}}',
        '{"mm": {"details": [1]}}',
        '{"mm": {"details": [{"op_name": "mm", "dtype": "f", "result": [1]}]}}',
        '{"mm": {"details": [{"op_name": 1, "dtype": "f", "result": []}]}}',
        '{"mm": {"details": ["{"]}}',
        "[" * 200_000,
        '{"mm": {"details": [' + "[" * 3000 + "]" * 3000 + "]}}",
        '{"a": ' + "1" * 5000 + "}",
        "\udcff",
    ],
)
def test_what_is_no_report_is_a_read_error(tmp_path, content):
    path = tmp_path / "result.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ReadError):
        read_json(path)


def test_a_missing_report_is_a_read_error(tmp_path):
    with pytest.raises(ReadError, match=r"result\.json"):
        read_json(tmp_path / "result.json")


def test_a_report_of_several_pieces_is_read_whole_and_one_beyond_the_limit_is_refused(write, monkeypatch):
    path = write(" " * (1 << 17) + json.dumps({"mm": entry(details=[record()])}))
    assert len(read_json(path).rows) == 1
    monkeypatch.setattr(json_reader, "MAX_JSON_BYTES", 1 << 16)
    with pytest.raises(ReadError, match="is larger than 65536 bytes"):
        read_json(path)
