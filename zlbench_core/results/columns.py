"""What a table is: its columns, each with its type, unit and meaning. Frames, files and pages are made from it.

Standard library alone: pandas comes in where a table is written (frames.py).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_WHOLE = re.compile(r"[+-]?\d+")
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Kind:
    """The type of a column: in words, as pandas calls it, and the Python types that a cell takes beside None."""

    told: str
    dtype: str
    takes: frozenset[type]


TEXT = Kind("text", "string", frozenset({str}))
WHOLE = Kind("a whole number", "Int64", frozenset({int}))
REAL = Kind("a number", "Float64", frozenset({float, int}))
LIST = Kind("a list of texts", "string", frozenset({list, tuple}))  # in a file `one;two`
COUNTS = Kind("counts by name", "string", frozenset({dict}))  # in a file `NAME=3;OTHER=1`


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `known`: never None. `heading`: what Markdown has above it, where that is not the name.

    `young`: files that an earlier version wrote lack it.
    """

    name: str
    kind: Kind
    meaning: str
    unit: str = ""
    known: bool = False
    heading: str = ""
    young: bool = False

    def takes(self, value: Any) -> bool:
        if value is None:
            return not self.known
        if type(value) not in self.kind.takes and not self._takes_a_kind_of(value):
            return False
        return self.kind is not WHOLE or abs(value) <= _LARGEST

    def _takes_a_kind_of(self, value: Any) -> bool:
        """Subclasses too: numpy's numbers and the words of an enumeration; truth values are no numbers."""
        return isinstance(value, tuple(self.kind.takes)) and not isinstance(value, bool)

    def parsed(self, cell: str) -> Any:
        """The value of a cell of a file, None where it is empty. Raises ValueError for one of another type.

        Lists and counts stay the text that they are in a file.
        """
        if cell == "" and not self.known:
            return None
        if self.kind is WHOLE:
            number = int(cell) if _WHOLE.fullmatch(cell) else None
            if number is None or abs(number) > _LARGEST:
                raise ValueError(self.kind.told)
            return number
        return _finite(cell) if self.kind is REAL else cell


def _finite(cell: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(REAL.told)
    return number


class Line(NamedTuple):
    """The checked cells of one line, in the order of the columns. Made by Table.line alone."""

    table: str
    cells: tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """A table's name and columns."""

    name: str
    columns: tuple[Column, ...]
    names: tuple[str, ...] = field(init=False)
    _by_name: Mapping[str, Column] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {column.name: column for column in self.columns})
        object.__setattr__(self, "names", tuple(self._by_name))

    @property
    def headings(self) -> tuple[str, ...]:
        """What Markdown has above the columns."""
        return tuple(column.heading or column.name for column in self.columns)

    def __getitem__(self, name: str) -> Column:
        return self._by_name[name]

    def line(self, cells: Mapping[str, Any]) -> Line:
        """A line of the table; what is not known is None.

        Raises ValueError for an unknown or a missing column, and for a value of another type than the column's.
        """
        if cells.keys() != self._by_name.keys():
            raise ValueError(self._other_columns(cells))
        for column in self.columns:
            if not column.takes(cells[column.name]):
                raise ValueError(self._wrong(column, cells[column.name]))
        return Line(self.name, tuple(cells[name] for name in self.names))

    def _other_columns(self, cells: Mapping[str, Any]) -> str:
        for name in cells:
            if name not in self._by_name:
                has = ", ".join(self.names)
                return f"table {self.name} has no column {name!r}, which is {cells[name]!r}; it has {has}"
        missing = next(name for name in self.names if name not in cells)
        return (
            f"table {self.name}: a line lacks column {missing!r}; what is not known is None: {dict(cells)!r}"
        )

    def _wrong(self, column: Column, value: Any) -> str:
        allowed = column.kind.told if column.known else f"{column.kind.told} or None"
        return f"table {self.name}: {column.name} is {value!r}; {allowed} is expected"

    def described(self) -> Iterator[str]:
        """The table of its columns, as docs/tables.md has it."""
        yield "| column | type | meaning |"
        yield "| --- | --- | --- |"
        for column in self.columns:
            kind = f"{column.kind.told.removeprefix('a ')}{f', {column.unit}' if column.unit else ''}"
            yield f"| `{column.name}` | {kind} | {column.meaning} |"
