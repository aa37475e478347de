from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zlbench_core.errors import ReadError
from zlbench_core.results.columns import COUNTS, LIST, REAL, TEXT, WHOLE, Table
from zlbench_core.results.csv_files import read_table, write_csv
from zlbench_core.results.frames import FRAME_LINES, GrowingText, frame_of, lines_text, read_frame, records
from zlbench_core.results.tables import AB, CODE, STATUS, SUMMARY, TABLES

_PLAIN = {TEXT: "x", WHOLE: 0, REAL: 1.5, LIST: (), COUNTS: {}}


def whole(table: Table, **cells: Any) -> dict[str, Any]:
    """A line's cells, of which those not given are unknown, or plain where they must be known."""
    rest = {column.name: _PLAIN[column.kind] if column.known else None for column in table.columns}
    return {**rest, **cells}


def write(path: Path, table: Table, *lines: dict[str, Any]) -> None:
    write_csv(path, table, [lines_text(table, [table.line(whole(table, **line)) for line in lines])])


def test_backend_device_and_timer_stand_before_the_operators_name():
    assert SUMMARY.names[:4] == ("backend", "device", "timer", "fg_op_name")
    assert {"backend", "device", "gpu", "timer"} <= set(STATUS.names)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_an_empty_table_has_its_heading_and_lf(tmp_path, table):
    path = tmp_path / "new" / "t.csv"
    write(path, table)
    assert path.read_bytes() == ",".join(table.names).encode() + b"\n"


def test_unknown_is_an_empty_cell_and_numbers_keep_their_digits(tmp_path):
    path = tmp_path / "summary.csv"
    row = {
        "fg_op_name": "mm",
        "size": '[[8], {"a, b": 1}]',
        "rounds": 0,
        "latency_a_ms": 0.10953599959611893,
        "latency_b_ms": float("nan"),
        "ratio": float("inf"),
        "ratio_max": np.float64(1e-9),
        "speedup": -0.5,
        "fallback": "A B",
    }
    write(path, SUMMARY, row)
    (line,) = read_table(path)
    assert {name: cell for name, cell in line.items() if cell and cell != "x"} == {
        "fg_op_name": "mm",
        "size": '[[8], {"a, b": 1}]',
        "occurrence": "0",
        "rounds": "0",
        "latency_a_ms": "0.10953599959611893",
        "ratio_max": "1e-09",
        "speedup": "-0.5",
        "fallback": "A B",
    }


def test_text_that_a_spreadsheet_would_run_is_quoted_and_comes_back(tmp_path):
    path = tmp_path / "ops_status.csv"
    reasons = ["=HYPERLINK(1)", "+1", "-x", "@sum", "'=x", "''-x", "'plain", "a=b"]
    write(path, STATUS, *({"op": "mm", "reason": reason} for reason in reasons))
    cells = [line.split(",")[7] for line in path.read_text().splitlines()[1:]]
    assert cells == ["'=HYPERLINK(1)", "'+1", "'-x", "'@sum", "''=x", "'''-x", "'plain", "a=b"]
    assert [line["reason"] for line in read_table(path)] == reasons


def test_control_characters_and_line_breaks_become_escapes(tmp_path):
    path = tmp_path / "ops_status.csv"
    write(path, STATUS, {"reason": "a\nb\x07\t=1"})
    assert len(path.read_text().splitlines()) == 2
    assert read_table(path)[0]["reason"] == "a\\nb\\x07\\t=1"


def test_markers_and_partial_dtypes_are_lists_in_a_cell(tmp_path):
    path = tmp_path / "ops_status.csv"
    write(path, STATUS, {"markers": {"A": 2, "B": 1}, "partial_dtypes": ("mm: x", "mm: y"), "notes": []})
    (line,) = read_table(path)
    assert (line["markers"], line["partial_dtypes"], line["notes"]) == ("A=2;B=1", "mm: x;mm: y", "")


def test_a_table_may_be_written_from_several_texts(tmp_path):
    lines = [AB.line(whole(AB, op=op, latency_a_ms=0.1)) for op in ("mm", "add", "silu")]
    write_csv(tmp_path / "one.csv", AB, [lines_text(AB, lines)])
    write_csv(tmp_path / "three.csv", AB, (lines_text(AB, [line]) for line in lines))
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "three.csv").read_bytes()


def test_lines_that_come_in_a_few_at_a_time_make_the_same_text():
    lines = [AB.line(whole(AB, round=number)) for number in range(2 * FRAME_LINES + 7)]
    growing = GrowingText(AB)
    for start in range(0, len(lines), 90):
        growing.add(lines[start : start + 90])
    texts = growing.parts()
    assert len(texts) == 2
    assert "".join(texts) == lines_text(AB, lines)


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ({"latency": 1.5}, r"table ab has no column 'latency', which is 1\.5; it has op, fg_op_name"),
        ({"ratio": "fast"}, r"table ab: ratio is 'fast'; a number or None is expected"),
        ({"ratio": True}, r"table ab: ratio is True; a number or None is expected"),
        ({"round": 1.0}, r"table ab: round is 1\.0; a whole number is expected"),
        ({"round": 2**63}, r"table ab: round is 9223372036854775808; a whole number is expected"),
        ({"round": None}, r"table ab: round is None; a whole number is expected"),
        ({"op": None}, r"table ab: op is None; text is expected"),
        ({"note": ["x"]}, r"table ab: note is \['x'\]; text or None is expected"),
    ],
)
def test_a_line_of_another_form_is_an_error_where_it_is_made(cells, told):
    with pytest.raises(ValueError, match=f"^{told}"):
        AB.line(whole(AB, **cells))


def test_a_missing_column_is_an_error_where_the_line_is_made():
    cells = whole(CODE, op="mm")
    del cells["reason"]
    with pytest.raises(ValueError, match=r"^table code: a line lacks column 'reason'; .*'op': 'mm'"):
        CODE.line(cells)


def test_an_enumerations_word_and_numpys_numbers_are_what_they_stand_for():
    line = AB.line(whole(AB, ratio=np.float64(0.5), latency_a_ms=2))
    assert records(frame_of(AB, [line]))[0]["latency_a_ms"] == 2.0


def test_a_frame_has_the_declared_dtypes_with_and_without_lines():
    for table in TABLES:
        for lines in ([], [table.line(whole(table))]):
            frame = frame_of(table, lines)
            assert [str(dtype) for dtype in frame.dtypes] == [column.kind.dtype for column in table.columns]
            assert list(frame.columns) == list(table.names)


def test_a_line_of_another_table_is_an_error():
    with pytest.raises(ValueError, match="table summary: a line of table ab"):
        frame_of(SUMMARY, [AB.line(whole(AB))])


def test_a_file_comes_back_as_the_frame_that_it_was_written_from(tmp_path):
    lines = [AB.line(whole(AB, latency_a_ms=0.1 + 0.2, note="=x")), AB.line(whole(AB, round=7))]
    write_csv(tmp_path / "ab.csv", AB, [lines_text(AB, lines)])
    assert records(read_frame(tmp_path / "ab.csv", AB)) == records(frame_of(AB, lines))


def test_an_older_table_without_a_young_column_is_read(tmp_path):
    path = tmp_path / "ops_status.csv"
    write(path, STATUS, {"op": "mm"})
    path.write_text("".join(f"{line.rpartition(',')[0]}\n" for line in path.read_text().splitlines()))
    assert "notes" not in read_table(path)[0]
    assert records(read_frame(path, STATUS))[0]["notes"] is None


@pytest.mark.parametrize("cell", ["fast", "nan", "inf", "0x1"])
def test_a_number_that_is_none_is_a_read_error(tmp_path, cell):
    path = tmp_path / "ab.csv"
    write(path, AB, {"ratio": 1.25})
    path.write_text(path.read_text().replace("1.25", cell))
    with pytest.raises(ReadError, match=rf"ab\.csv, line 2: ratio is '{cell}'; a number is expected$"):
        read_table(path)


def test_reading_a_table_that_is_not_there_is_a_read_error(tmp_path):
    with pytest.raises(ReadError, match=r"no\.csv"):
        read_table(tmp_path / "no.csv")
