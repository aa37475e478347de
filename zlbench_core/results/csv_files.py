"""A table's file: CSV in UTF-8 with LF. What is not known is an empty cell. Numbers have all their digits.

Text has no control characters (they are written as escapes, `\\n`). Text that a spreadsheet would take for a
formula (it starts with = + - or @) gets one `'` before it, which `read_table` takes away again.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    return [cells for cells, _ in _checked(path, _TABLES.get(Path(path).name))]


def read_values(path: Path | str, table: Table) -> list[list[Any]]:
    """The lines of `table` as values, in the order of its columns. Raises ReadError as read_table."""
    return [values for _, values in _checked(path, table)]


def _checked(path: Path | str, table: Table | None) -> Iterator[tuple[dict[str, str], list[Any]]]:
    """The text and the values of each line; a table that is not known has no values."""
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream)
            if missing := _needed(table) - {*(reader.fieldnames or ())}:
                raise ReadError(
                    f"table {path} has no column {min(missing)}; it is damaged or no table of zlbench"
                )
            for row in reader:
                yield _cells(path, reader.line_num, row, table)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ReadError(f"cannot read table {path}: {error}") from None


def _needed(table: Table | None) -> set[str]:
    return {column.name for column in table.columns if not column.young} if table else set()


def _cells(
    path: Path | str, number: int, row: Mapping[str | None, str | None], table: Table | None
) -> tuple[dict[str, str], list[Any]]:
    """The text and the values of line `number`. Raises ReadError where it breaks off, or a cell is of another type."""
    if None in row or None in row.values():
        raise ReadError(
            f"table {path}, line {number}: not as many cells as the table has columns; it is damaged"
        )
    cells = {str(name): _unquoted(cell or "") for name, cell in row.items()}
    values = []
    for column in table.columns if table else ():
        cell = cells.get(column.name, "" if column.young else None)
        try:
            values.append(column.parsed(cell or ""))
        except ValueError as error:
            raise ReadError(
                f"table {path}, line {number}: {column.name} is {cell!r}; {error} is expected"
            ) from None
    return cells, values


def _unquoted(cell: str) -> str:
    return cell[1:] if _QUOTED_FORMULA.match(cell) else cell
