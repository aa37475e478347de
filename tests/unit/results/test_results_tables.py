from __future__ import annotations

import pytest

from zlbench_core.errors import ReadError
from zlbench_core.results import (
    AB_FIELDS,
    STATUS_FIELDS,
    SUMMARY_FIELDS,
    read_table,
    write_ab,
    write_status,
    write_summary,
)


def test_backend_device_and_timer_stand_before_the_operators_name():
    assert SUMMARY_FIELDS[:4] == ("backend", "device", "timer", "fg_op_name")
    assert {"backend", "device", "gpu", "timer"} <= set(STATUS_FIELDS)


@pytest.mark.parametrize(
    ("write", "fields"),
    [(write_summary, SUMMARY_FIELDS), (write_status, STATUS_FIELDS), (write_ab, AB_FIELDS)],
)
def test_an_empty_table_has_its_heading_and_lf(tmp_path, write, fields):
    path = tmp_path / "new" / "t.csv"
    write(path, [])
    assert path.read_bytes() == ",".join(fields).encode() + b"\n"


def test_unknown_is_an_empty_cell_and_numbers_keep_their_digits(tmp_path):
    path = tmp_path / "summary.csv"
    row = {
        "fg_op_name": "mm",
        "size": '[[8], {"a, b": 1}]',
        "rounds": 0,
        "latency_a_ms": 0.10953599959611893,
        "latency_b_ms": float("nan"),
        "ratio": float("inf"),
        "speedup": -0.5,
        "fallback": ["a: X", "b: X"],
    }
    write_summary(path, [row])
    (line,) = read_table(path)
    assert {name: cell for name, cell in line.items() if cell} == {
        "fg_op_name": "mm",
        "size": '[[8], {"a, b": 1}]',
        "rounds": "0",
        "latency_a_ms": "0.10953599959611893",
        "speedup": "-0.5",
        "fallback": "a: X;b: X",
    }


def test_text_that_a_spreadsheet_would_run_is_quoted_and_comes_back(tmp_path):
    path = tmp_path / "ops_status.csv"
    reasons = ["=HYPERLINK(1)", "+1", "-x", "@sum", "'=x", "''-x", "'plain", "a=b"]
    write_status(path, [{"op": "mm", "reason": reason} for reason in reasons])
    cells = [line.split(",")[7] for line in path.read_text().splitlines()[1:]]
    assert cells == ["'=HYPERLINK(1)", "'+1", "'-x", "'@sum", "''=x", "'''-x", "'plain", "a=b"]
    assert [line["reason"] for line in read_table(path)] == reasons


def test_control_characters_and_line_breaks_become_escapes(tmp_path):
    path = tmp_path / "ops_status.csv"
    write_status(path, [{"op": "mm", "reason": "a\nb\x07\t=1"}])
    assert len(path.read_text().splitlines()) == 2
    assert read_table(path)[0]["reason"] == "a\\nb\\x07\\t=1"


def test_markers_and_partial_dtypes_are_lists_in_a_cell(tmp_path):
    path = tmp_path / "ops_status.csv"
    write_status(path, [{"op": "mm", "markers": {"A": 2, "B": 1}, "partial_dtypes": ("mm: x", "mm: y")}])
    (line,) = read_table(path)
    assert (line["markers"], line["partial_dtypes"]) == ("A=2;B=1", "mm: x;mm: y")


def test_an_unknown_column_is_an_error_and_leaves_the_old_table(tmp_path):
    path = tmp_path / "ab.csv"
    write_ab(path, [{"op": "mm"}])
    before = path.read_bytes()
    with pytest.raises(ValueError, match="no column 'latency'"):
        write_ab(path, [{"op": "mm", "latency": 1.0}])
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["ab.csv"]


def test_reading_a_table_that_is_not_there_is_a_read_error(tmp_path):
    with pytest.raises(ReadError, match=r"no\.csv"):
        read_table(tmp_path / "no.csv")
