"""The campaign's tables: summary.csv, ops_status.csv, ab.csv and code.csv. docs/tables.md says what each column means.

CSV in UTF-8 with LF, written atomically. What is not known is an empty cell. Numbers have all their digits.
Text has no control characters (they are written as escapes, `\\n`). Text that a spreadsheet would take for a
formula (it starts with = + - or @) gets one `'` before it, which `read_table` takes away again.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from zlbench_core.common.files import atomic_open
from zlbench_core.common.text import printable
from zlbench_core.errors import ReadError

SUMMARY_FIELDS = (
    "backend",
    "device",
    "timer",
    "fg_op_name",
    "op",
    "dtype",
    "mode",
    "size",
    "occurrence",
    "rounds",
    "latency_torch_ms",
    "latency_a_ms",
    "speedup",
    "latency_b_ms",
    "ratio",
    "ratio_min",
    "ratio_max",
    "fallback",
    "note",
)
STATUS_FIELDS = (
    "backend",
    "device",
    "gpu",
    "timer",
    "op",
    "side",
    "status",
    "reason",
    "pytest_exit",
    "rows",
    "partial_dtypes",
    "markers",
    "rounds",
    "notes",
)
AB_FIELDS = (
    "op",
    "fg_op_name",
    "dtype",
    "mode",
    "size",
    "occurrence",
    "round",
    "order",
    "latency_a_ms",
    "latency_b_ms",
    "ratio",
    "marker_a",
    "marker_b",
    "note",
)
CODE_FIELDS = (
    "op",
    "finding",
    "first_stage",
    "variants",
    "changed",
    "only_in_a",
    "only_in_b",
    "only_locations",
    "registers_min",
    "registers_max",
    "spills_min",
    "spills_max",
    "instructions_min",
    "instructions_max",
    "reason",
)
_NEEDED = {
    "summary.csv": {*SUMMARY_FIELDS},
    "ops_status.csv": {*STATUS_FIELDS} - {"notes"},  # older tables have none
    "ab.csv": {*AB_FIELDS},
    "code.csv": {*CODE_FIELDS},
}
_COUNT = re.compile(r"-?\d+")
_COUNTS = ("occurrence", "round", "rounds", "rows", "pytest_exit")  # may be unknown
_KNOWN_COUNTS = {
    "ab.csv": ("occurrence", "round"),
    "code.csv": ("variants", "changed", "only_in_a", "only_in_b"),
}

Line = Mapping[str, Any] | str  # a line of a table, or the text of several (table_text)

_FORMULA = re.compile(r"'*[=+\-@]")
_QUOTED_FORMULA = re.compile(r"'+[=+\-@]")


def write_summary(path: Path | str, rows: Iterable[Line]) -> None:
    """Write summary.csv: one line per operator, dtype and size. Raises ValueError for an unknown column."""
    _write(path, SUMMARY_FIELDS, rows)


def write_status(path: Path | str, rows: Iterable[Line]) -> None:
    """Write ops_status.csv: one line per operator and side. Raises ValueError for an unknown column."""
    _write(path, STATUS_FIELDS, rows)


def write_ab(path: Path | str, rows: Iterable[Line]) -> None:
    """Write ab.csv: one line per operator, row and round. Raises ValueError for an unknown column."""
    _write(path, AB_FIELDS, rows)


def write_code(path: Path | str, rows: Iterable[Line]) -> None:
    """Write code.csv: one line per operator. Raises ValueError for an unknown column."""
    _write(path, CODE_FIELDS, rows)


def read_table(path: Path | str) -> list[dict[str, str]]:
    """The lines of a table as text, unquoted. Raises ReadError where it cannot be read, or is not whole."""
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream)
            if missing := _NEEDED.get(Path(path).name, set()) - {*(reader.fieldnames or ())}:
                raise ReadError(
                    f"table {path} has no column {min(missing)}; it is damaged or no table of zlbench"
                )
            return [_cells(path, reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ReadError(f"cannot read table {path}: {error}") from None


def _cells(path: Path | str, number: int, row: Mapping[str | None, str | None]) -> dict[str, str]:
    """The cells of line `number`. Raises ReadError for a line that breaks off, and for a count that is none."""
    if None in row or None in row.values():
        raise ReadError(
            f"table {path}, line {number}: not as many cells as the table has columns; it is damaged"
        )
    cells = {str(name): _unquoted(cell or "") for name, cell in row.items()}
    asked = [name for name in _COUNTS if cells.get(name)] + [*_KNOWN_COUNTS.get(Path(path).name, ())]
    if wrong := [name for name in asked if not _COUNT.fullmatch(cells[name])]:
        raise ReadError(
            f"table {path}, line {number}: {wrong[0]} is {cells[wrong[0]]!r}; a whole number is expected"
        )
    return cells


def _write(path: Path | str, fields: Sequence[str], rows: Iterable[Line]) -> None:
    with atomic_open(path) as stream:
        csv.writer(stream, lineterminator="\n").writerow(fields)
        for row in rows:
            stream.write(row if isinstance(row, str) else table_text(fields, [row], str(path)))


def table_text(fields: Sequence[str], rows: Iterable[Mapping[str, Any]], table: str = "") -> str:
    """The lines of a table without its header; a table may be written from several such texts."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    known = set(fields)
    for row in rows:
        if unknown := sorted(row.keys() - known):
            raise ValueError(f"table {table} has no column {unknown[0]!r}; it has {', '.join(fields)}")
        writer.writerow([cell_text(row.get(field)) for field in fields])
    return stream.getvalue()


def cell_text(value: Any) -> str:
    """The text of a cell: mappings as `name=value;...`, sequences as `one;two`, nan and inf as unknown."""
    if value is None:
        return ""
    if isinstance(value, str):
        return _text_cell(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ""
    if isinstance(value, int):
        return str(value).lower()  # true and false for bool
    return _text_cell(_joined(value))


@lru_cache(maxsize=4096)
def _text_cell(text: str) -> str:
    text = printable(text)
    return f"'{text}" if _FORMULA.match(text) else text


def _joined(value: Any) -> str:
    if isinstance(value, Mapping):
        return ";".join(f"{name}={count}" for name, count in value.items())
    return ";".join(map(str, value)) if isinstance(value, Sequence) else str(value)


def _unquoted(cell: str) -> str:
    return cell[1:] if _QUOTED_FORMULA.match(cell) else cell
