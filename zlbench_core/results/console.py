"""Plain text for the terminal: tables and sentences that fit its width, with the standard library alone.

Nothing is cut. What does not fit in its row of a table stands below it, and a line that is too long goes on indented.
"""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from zlbench_core.common.text import printable

MIN_WIDTH = 40  # no number is wider than what is left of it beside the indentation
_GAP = "  "
_INDENT = "    "
_INSIDE_NUMBER = re.compile(r"[\w.+-]")
_NUMBER = re.compile(r"|[+-]?\d+(\.\d+)?(e[+-]?\d+)?")


def screen_width() -> int | None:
    """Columns of the terminal, or what COLUMNS says; None in a pipe or a file, where each row is one line."""
    columns = shutil.get_terminal_size((0, 0)).columns
    return max(columns, MIN_WIDTH) if columns else None


def text_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], width: int | None = None) -> str:
    """Rows under a heading, numbers to the right, unknown as `-`. Columns that no row fills are left out.

    Of a table that is wider than `width` the widest columns of text, and where need be those of numbers, stand below
    each row as `name: value`.
    """
    used = [name for name in columns if any(_shown(row.get(name)) != "-" for row in rows)]
    if not used:
        return "(nothing)\n"
    shown = [{name: _shown(row.get(name)) for name in used} for row in rows]
    numeric = {name for name in used if all(_is_number(row.get(name)) for row in rows)}
    widths = {name: max(_width(text) for text in (name, *(line[name] for line in shown))) for name in used}
    inside = _inside(widths, numeric, width)
    heading = [{name: name for name in used}, {name: "-" * widths[name] for name in used}]
    lines = [_line(cells, inside, numeric) for cells in heading]
    for cells in shown:
        lines.append(_line(cells, inside, numeric))
        lines += [
            f"{_INDENT}{name}: {cells[name]}" for name in used if name not in inside and cells[name] != "-"
        ]
    return fitted("".join(f"{line}\n" for line in lines), width)


def fitted(text: str, width: int | None) -> str:
    """`text` with every line that is wider than `width` columns folded; as it is where `width` is None."""
    if width is None:
        return text
    return "".join(f"{piece}\n" for line in text.expandtabs().splitlines() for piece in folded(line, width))


def folded(line: str, width: int) -> Iterator[str]:
    """A line in pieces of at most `width` columns, at spaces where there are any; never inside a number."""
    indent = line[: len(line) - len(line.lstrip(" "))][: width // 2] + _INDENT
    while _width(line) > width:
        end = _end(line, width)
        yield line[:end].rstrip(" ")
        line = indent + line[end:].lstrip(" ")
    yield line


def _inside(widths: Mapping[str, int], numeric: Collection[str], width: int | None) -> dict[str, int]:
    """The columns that stay in the rows, with their widths; the first always does: it says what a row is about."""
    inside = dict(widths)
    while width is not None and len(inside) > 1 and _total(inside) > width:
        del inside[_given_up(inside, numeric, width)]
    return inside


def _given_up(inside: Mapping[str, int], numeric: Collection[str], width: int) -> str:
    """The last column of text without which the rest fits; the widest where none is wide enough."""
    others = list(inside)[1:]
    for name in reversed(others):
        if name not in numeric and _total({**inside, name: 0}) - len(_GAP) <= width:
            return name
    return max(others, key=lambda name: (name not in numeric, inside[name]))


def _total(widths: Mapping[str, int]) -> int:
    return sum(widths.values()) + len(_GAP) * (len(widths) - 1)


def _line(cells: Mapping[str, str], widths: Mapping[str, int], numeric: Collection[str]) -> str:
    return _GAP.join(_padded(cells[name], widths[name], name in numeric) for name in widths).rstrip()


def _padded(text: str, width: int, to_the_right: bool) -> str:
    space = " " * (width - _width(text))
    return space + text if to_the_right else text + space


def _end(line: str, width: int) -> int:
    """Where the first piece of a line ends: after a space, else after what is no part of a number, else anywhere."""
    longest = _characters(line, width)
    start = len(line) - len(line.lstrip(" "))
    space = line.rfind(" ", start, longest + 1)
    if space > start:
        return space
    apart = next((end for end in range(longest, start, -1) if not _INSIDE_NUMBER.match(line[end - 1])), None)
    return apart or longest


def _characters(line: str, width: int) -> int:
    """How many characters of a line fill `width` columns."""
    used = 0
    for place, char in enumerate(line):
        used += _width(char)
        if used > width:
            return place
    return len(line)


def _width(text: str) -> int:
    """The columns that a terminal needs: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def _is_number(value: Any) -> bool:
    """Also as a table's file holds it: as text."""
    if isinstance(value, str):
        return _NUMBER.fullmatch(value) is not None
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
