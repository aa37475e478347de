"""Tables as pandas frames with declared dtypes, and the forms that are written from them.

The one module of the tables that imports pandas (0.3 s): import it where a table is written, and only there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from zlbench_core.common.files import atomic_open
from zlbench_core.results.columns import COUNTS, LIST, REAL, TEXT, WHOLE, Kind, Line, Table
from zlbench_core.results.console import text_table
from zlbench_core.results.csv_files import joined_lines, read_values, safe_text

FRAME_LINES = 2000  # 0.3 MB; a frame of one operator would cost 1 ms more than its lines
_TEXT = pd.StringDtype("python")  # pyarrow's costs more to build for the few lines of one operator


def frame_of(table: Table, lines: Iterable[Line]) -> pd.DataFrame:
    """The frame of a table's lines; nan and inf are unknown. Raises ValueError for a line of another table."""
    lines = list(lines)
    if other := next((line.table for line in lines if line.table != table.name), None):
        raise ValueError(f"table {table.name}: a line of table {other}")
    return _frame(table, _columns(table, [line.cells for line in lines]))


def read_frame(path: Path, table: Table) -> pd.DataFrame:
    """The frame of a table's file; lists and counts are text. Raises ReadError where it cannot be read."""
    return _frame(table, _columns(table, read_values(path, table)))


def csv_text(table: Table, frame: pd.DataFrame) -> str:
    """The lines of a table without its header; a file may be written from several such texts (write_csv)."""
    texts = [_cells(frame, name, safe_text if _is_text(table[name].kind) else None) for name in table.names]
    return joined_lines(zip(*texts, strict=True))


def lines_text(table: Table, lines: Iterable[Line]) -> str:
    """csv_text of the frame of `lines`."""
    return csv_text(table, frame_of(table, lines))


class GrowingText:
    """The text of a table whose lines come in a few at a time: a frame for so many of them, never for all."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._lines: list[Line] = []
        self._texts: list[str] = []

    def add(self, lines: Iterable[Line]) -> None:
        self._lines += lines
        if len(self._lines) >= FRAME_LINES:
            self._frame()

    def parts(self) -> list[str]:
        """The texts of all lines so far (csv_text)."""
        self._frame()
        return self._texts

    def _frame(self) -> None:
        self._texts.append(lines_text(self._table, self._lines))
        self._lines = []


def write_parquet(path: Path, table: Table, frame: pd.DataFrame) -> None:
    """Write a frame as parquet, whole or not at all; what is unknown is null."""
    import pyarrow as pa
    from pyarrow import parquet

    types = {"string": pa.string(), "Int64": pa.int64(), "Float64": pa.float64()}
    schema = pa.schema([(column.name, types[column.kind.dtype]) for column in table.columns])
    with atomic_open(path, "wb") as stream:
        parquet.write_table(pa.Table.from_pandas(frame, schema, preserve_index=False), stream)


def terminal_text(table: Table, frame: pd.DataFrame, width: int | None = None) -> str:
    """The frame for a terminal of `width` columns, None for as wide as needed."""
    return text_table(records(frame), table.names, width)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The lines of a frame as Python values, None for what is unknown."""
    columns = [
        [None if value is pd.NA else value for value in frame[name].tolist()] for name in frame.columns
    ]
    return [dict(zip(frame.columns, cells, strict=True)) for cells in zip(*columns, strict=True)]


def _columns(table: Table, lines: Sequence[Sequence[Any]]) -> Iterable[Sequence[Any]]:
    return zip(*lines, strict=True) if lines else [()] * len(table.columns)


def _frame(table: Table, columns: Iterable[Sequence[Any]]) -> pd.DataFrame:
    arrays = {
        column.name: _array(column.kind, values)
        for column, values in zip(table.columns, columns, strict=True)
    }
    return pd.DataFrame(arrays, copy=False)


def _array(kind: Kind, values: Sequence[Any]) -> Any:
    if kind is WHOLE:
        unknown = np.array([value is None for value in values], dtype=bool)
        return pd.arrays.IntegerArray(np.array([value or 0 for value in values], dtype=np.int64), unknown)
    if kind is REAL:
        numbers = np.array(values, dtype=np.float64)  # None becomes nan
        return pd.arrays.FloatingArray(numbers, ~np.isfinite(numbers))
    return pd.array([_joined(kind, value) for value in values], dtype=_TEXT)


def _joined(kind: Kind, value: Any) -> str | None:
    if kind is COUNTS and isinstance(value, Mapping):
        value = ";".join(f"{name}={count}" for name, count in value.items())
    if kind is LIST and isinstance(value, list | tuple):
        value = ";".join(map(str, value))
    return str(value) if value else None  # an empty text is an empty cell


def _is_text(kind: Kind) -> bool:
    return kind.dtype == TEXT.dtype


def _cells(frame: pd.DataFrame, name: str, text: Any) -> list[Any]:
    values = frame[name].tolist()
    if text is None:
        return ["" if value is pd.NA else value for value in values]
    return ["" if value is pd.NA else text(value) for value in values]
