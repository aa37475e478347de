"""Logs that want to be something else than text, or larger than memory."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest

from zlbench_core.errors import ReadError
from zlbench_core.results import log_lines
from zlbench_core.results.log_reader import read_log
from zlbench_core.results.reader import read_run
from zlbench_core.results.rows import MAX_ROWS

MIB = 1 << 20


def peak_of(work) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_100_mb_without_a_newline_are_read_in_a_few_mb(tmp_path):
    path = tmp_path / "run.log"
    with open(path, "wb") as stream:
        stream.truncate(100 * MIB)
    assert peak_of(lambda: read_log(path)) < 16 * MIB


def test_a_table_before_and_after_a_line_of_30_mb_is_read(make_log, block):
    text = block(op="mm") + "SUCCESS " * (4 * MIB) + "\n" + block(op="add")
    report = read_log(make_log(text))
    assert [row.op for row in report.table] == ["mm", "add"]
    assert any("longer than 16384 characters" in note for note in report.notes)


def test_more_rows_than_any_benchmark_has_are_refused(make_log, block):
    line = f"SUCCESS {0.2:>20.6f}{0.1:>20.6f}{2.0:>20.3f}          [1]\n"
    path = make_log(block() + line * MAX_ROWS)
    with pytest.raises(ReadError, match=f"more than {MAX_ROWS} rows"):
        read_log(path)


def test_many_failures_are_listed_up_to_a_bound_and_counted(make_log):
    text = "".join(f"FAILED benchmark/test_x.py::test_{i} - boom\n" for i in range(1000))
    report = read_log(make_log(text))
    assert len(report.failures) == 200
    assert report.notes == ["log: failures beyond the first 200 were left out (800 x)"]


def test_a_gz_log_that_unpacks_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(log_lines, "MAX_LOG_BYTES", MIB)
    path = tmp_path / "run.log.gz"
    path.write_bytes(gzip.compress(b"\0" * (4 * MIB)))
    with pytest.raises(ReadError, match="longer than"):
        read_log(path)


@pytest.mark.parametrize("content", [b"no gzip", gzip.compress(b"text" * 100, mtime=0)[:-9]])
def test_a_broken_gz_log_is_a_read_error(tmp_path, content):
    path = tmp_path / "run.log.gz"
    path.write_bytes(content)
    with pytest.raises(ReadError, match="cannot read log"):
        read_log(path)


def test_a_folder_in_the_logs_place_is_a_read_error(tmp_path):
    (tmp_path / "run.log").mkdir()
    with pytest.raises(ReadError, match="cannot read log"):
        read_run(tmp_path)


def test_html_stays_the_text_it_is(make_log, block):
    text = block(op="<img src=x onerror=alert(1)>", dtype="<b>float</b>") + (
        "FAILED benchmark/test_x.py::test_<script> - <script>alert(1)</script>\n"
    )
    report = read_log(make_log(text))
    assert report.table[0].op == "<img src=x onerror=alert(1)>"
    assert report.failures[0].message == "<script>alert(1)</script>"


def test_control_characters_become_visible_escapes(make_log, block):
    text = block(op="m\x07m\u202e", rows=[("['\\x1b[31m', 'a\u2028b']", 0.2, 0.1)])
    (row,) = read_log(make_log(text)).table
    assert row.op == "m\\x07m\\u202e"
    assert row.size == '["\\u001b[31m", "a\\u2028b"]'
    assert row.size.isprintable()


def test_bytes_that_are_no_utf8_become_escapes(make_log, block):
    path = make_log(block(op="mm").encode().replace(b"mm", b"m\xffm"))
    assert read_log(path).table[0].op == "m\\xffm"


def test_terminal_commands_are_taken_away(make_log, block):
    text = block(op="mm").replace("SUCCESS", "\x1b]0;title\x07\x1b[2K\x1b[1;31mSUCCESS\x1b(B\x1b[m")
    assert [row.op for row in read_log(make_log(text)).table] == ["mm"]


def test_carriage_returns_end_lines(make_log, block):
    text = "compiling 1%\rcompiling 99%\r" + block().lstrip("\n").replace("\n", "\r\n")
    assert len(read_log(make_log(text)).table) == 1


@pytest.mark.parametrize(
    "line",
    [
        "Operator: " + " " * 400_000 + "Performance Test (dtype=",
        "SUCCESS" + " " * 400_000 + "x",
        "FAILED " + ".py::" * 80_000,
        "FAILED: Operator=" + "a" * 400_000,
        "=" * 400_000 + " in ",
        "=== " + "1 passed, " * 40_000 + "in 1s",
        "\x1b[" + "0;" * 200_000 + " SUCCESS",
        "\x1b]" * 200_000 + "SUCCESS",
        "[INFO] " + "[" * 200_000,
        "SUCCESS 0.1 0.2 0.3 " + "[" * 16_000,
        "SUCCESS 0.1 0.2 0.3 " + "'" * 16_000,
        "BENCHMARK_" + "A" * 400_000,
    ],
)
def test_no_line_makes_the_reader_slow_or_fail(make_log, block, line):
    """Each would take minutes in a reader that goes back over a line; the suite's time limit is the bound."""
    report = read_log(make_log(block() + (line + "\n") * 20 + block(op="add")))
    assert [row.op for row in report.table if row.latency == 0.1] == ["mm", "add"]
