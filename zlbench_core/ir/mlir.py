"""Textual MLIR without its locations."""

from __future__ import annotations

import re

_STRING = r'"(?:[^"\\]|\\.)*"'
_STRING_OR_LOC = re.compile(rf"{_STRING}|[ ]?(?<![\w.$#%@-])loc\(")
_STRING_OR_BRACKET = re.compile(rf"{_STRING}|[()]")
_LOC_ALIAS = re.compile(r"^#loc\d*\s*=\s*$")
_VALUE_OR_FUNCTION = re.compile(rf"{_STRING}|(?P<function>\b\w+\.func\b)|%(?P<value>[\w.$-]+)")


def readable_mlir(text: str) -> str:
    """Drop `loc(...)`, nested ones too, and the `#loc` aliases; strings are left alone."""
    lines = (line.rstrip() for line in _without_locations(text).splitlines())
    return "".join(f"{line}\n" for line in lines if line and not _LOC_ALIAS.match(line))


def numbered_values(text: str) -> str:
    """Name each SSA value by its first appearance in its function. The renaming is one to one."""
    names: dict[str, str] = {}

    def rename(match: re.Match[str]) -> str:
        if match["function"]:
            names.clear()
        if not match["value"]:
            return match[0]
        return names.setdefault(match["value"], f"%{len(names)}")

    return _VALUE_OR_FUNCTION.sub(rename, text)


def _without_locations(text: str) -> str:
    pieces, position = [], 0
    while match := _STRING_OR_LOC.search(text, position):
        if match[0].startswith('"'):
            pieces.append(text[position : match.end()])
            position = match.end()
        else:
            pieces.append(text[position : match.start()])
            position = _closing(text, match.end())
    return "".join(pieces) + text[position:]


def _closing(text: str, position: int) -> int:
    """The end of the bracket that is open at `position`; of the text, where it is cut off before that."""
    depth = 1
    for match in _STRING_OR_BRACKET.finditer(text, position):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    return len(text)
