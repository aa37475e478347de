"""A table's file: CSV in UTF-8 with LF. What is not known is an empty cell. Numbers have all their digits.

Text has no control characters (they are written as escapes, `\\n`). Text that a spreadsheet would take for a
formula (it starts with = + - or @) gets one `'` before it, which `read_table` takes away again.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from zlbench_core.common.files import atomic_open
from zlbench_core.common.text import printable
from zlbench_core.errors import ReadError
from zlbench_core.results.columns import Table
from zlbench_core.results.tables import TABLES

_TABLES = {f"{table.name}.csv": table for table in TABLES}
_FORMULA = re.compile(r"'*[=+\-@]")
_QUOTED_FORMULA = re.compile(r"'+[=+\-@]")


def write_csv(path: Path | str, table: Table, texts: Iterable[str]) -> None:
    """Write a table from the texts of its lines (frames.csv_text), whole or not at all; no two need be in memory."""
    with atomic_open(path) as stream:
        stream.write(joined_lines([table.names]))
        stream.writelines(texts)


def joined_lines(lines: Iterable[Sequence[Any]]) -> str:
    """Lines of cells as CSV; text must be safe_text already."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(lines)
    return stream.getvalue()


@lru_cache(maxsize=4096)
def safe_text(text: str) -> str:
    """`text` as a cell: no control character, and no formula."""
    text = printable(text)
    return f"'{text}" if _FORMULA.match(text) else text


def read_table(path: Path | str) -> list[dict[str, str]]:
    """The lines of a table as text, unquoted. Raises ReadError where it cannot be read, or is not whole."""
    table = _TABLES.get(Path(path).name)
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream)
            if missing := _needed(table) - {*(reader.fieldnames or ())}:
                raise ReadError(
                    f"table {path} has no column {min(missing)}; it is damaged or no table of zlbench"
                )
            return [_cells(path, reader.line_num, row, table) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ReadError(f"cannot read table {path}: {error}") from None


def _needed(table: Table | None) -> set[str]:
    return {column.name for column in table.columns if not column.young} if table else set()


def _cells(
    path: Path | str, number: int, row: Mapping[str | None, str | None], table: Table | None
) -> dict[str, str]:
    """The cells of line `number`. Raises ReadError for a line that breaks off, or a cell of another type."""
    if None in row or None in row.values():
        raise ReadError(
            f"table {path}, line {number}: not as many cells as the table has columns; it is damaged"
        )
    cells = {str(name): _unquoted(cell or "") for name, cell in row.items()}
    for column in table.columns if table else ():
        cell = cells.get(column.name, "" if column.young else None)
        try:
            column.parsed(cell or "")
        except ValueError as error:
            raise ReadError(
                f"table {path}, line {number}: {column.name} is {cell!r}; {error} is expected"
            ) from None
    return cells


def _unquoted(cell: str) -> str:
    return cell[1:] if _QUOTED_FORMULA.match(cell) else cell
