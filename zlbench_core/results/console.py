"""Plain text tables for the terminal, with the standard library alone."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from zlbench_core.results.text import printable

STATUS_COLUMNS = ("op", "side", "status", "speedup", "rows", "rounds", "partial_dtypes", "markers", "reason")
VERDICT_COLUMNS = ("op", "verdict", "ratio", "ci_low", "ci_high", "rounds", "reason")
MIN_COLUMN = 8
_GAP = "  "


def status_table(lines: Sequence[Mapping[str, Any]], width: int | None = None) -> str:
    """The lines of ops_status.csv as a table; `width` is the terminal's, None for as wide as needed."""
    return text_table(lines, STATUS_COLUMNS, width)


def verdict_table(lines: Sequence[Mapping[str, Any]], width: int | None = None) -> str:
    """One line per operator: the verdict, the ratio b over a with its interval, the rounds, the reason."""
    return text_table(lines, VERDICT_COLUMNS, width)


def text_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], width: int | None = None) -> str:
    """Rows under a heading, numbers to the right, unknown as `-`. Columns that no row fills are left out.

    Where the table is wider than `width` the last column is shortened, down to 8 characters.
    """
    used = [name for name in columns if any(_shown(row.get(name)) != "-" for row in rows)]
    if not used:
        return "(nothing)\n"
    cells = [[_shown(row.get(name)) for name in used] for row in rows]
    numeric = [all(_is_number(row.get(name)) for row in rows) for name in used]
    widths = [max(_width(text) for text in column) for column in zip(used, *cells, strict=True)]
    widths[-1] = _last_width(widths, width)
    lines = [used, ["-" * size for size in widths], *cells]
    return "".join(_line(line, widths, numeric) for line in lines)


def _last_width(widths: Sequence[int], width: int | None) -> int:
    if width is None:
        return widths[-1]
    room = width - sum(widths[:-1]) - len(_GAP) * (len(widths) - 1)
    return min(widths[-1], max(room, MIN_COLUMN))


def _line(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    parts = [_fitted(*cell) for cell in zip(cells, widths, numeric, strict=True)]
    return _GAP.join(parts).rstrip() + "\n"


def _fitted(text: str, width: int, to_the_right: bool) -> str:
    while _width(text) > width:
        text = text.removesuffix("…")[:-1] + "…"
    space = " " * (width - _width(text))
    return space + text if to_the_right else text + space


def _width(text: str) -> int:
    """The columns that a terminal needs: wide characters take two, combining ones none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _shown(value: Any) -> str:
    if value is None or value == "":
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        value = ", ".join(f"{name} x{count}" for name, count in value.items())
    elif isinstance(value, Sequence) and not isinstance(value, str):
        value = ", ".join(str(part) for part in value)
    return printable(str(value)) or "-"
