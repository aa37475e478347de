"""Textual MLIR without its locations."""

from __future__ import annotations

import re

_STRING = r'"(?:[^"\\]|\\.)*"'
_STRING_OR_LOC = re.compile(rf"{_STRING}|[ ]?(?<![\w.$#%@-])loc\(")
_STRING_OR_BRACKET = re.compile(rf"{_STRING}|[()]")
_LOC_ALIAS = re.compile(r"^#loc\d*\s*=\s*$")
_NAME = r"[\w.$-]+"
_DEFINED = "\x00"  # put behind a name that its place defines; it is in no MLIR text
_VALUE_OR_FUNCTION = re.compile(
    rf"{_STRING}|(?P<function>\b\w+\.func\b)|%(?P<value>{_NAME})(?P<defined>{_DEFINED}|(?=(?::\d+)?\s*=\s))?"
)
_BLOCK_ARGUMENT = re.compile(rf"(%{_NAME})(?=\s*:)")
_RESULTS = re.compile(rf"\s*(?:%{_NAME}(?::\d+)?,\s*)+%{_NAME}(?::\d+)?\s*=\s")
_BEFORE_COMMA = re.compile(rf"(%{_NAME})(?=(?::\d+)?,)")


def readable_mlir(text: str) -> str:
    """Drop `loc(...)`, nested ones too, and the `#loc` aliases; strings are left alone."""
    lines = (line.rstrip() for line in _without_locations(text).splitlines())
    return "".join(f"{line}\n" for line in lines if line and not _LOC_ALIAS.match(line))


def numbered_values(text: str) -> str:
    """Name each SSA value by the order of the definitions in its function.

    A definition always gets a new number: the printer uses one name again in a sibling region, and whether it
    does depends on the names that locations gave to the values.
    """
    names: dict[str, str] = {}
    count = 0

    def rename(match: re.Match[str]) -> str:
        nonlocal count
        if match["function"]:
            names.clear()
            count = 0
        if not match["value"]:
            return match[0]
        if match["defined"] is not None or match["value"] not in names:
            names[match["value"]] = f"%{count}"
            count += 1
        return names[match["value"]]

    return "".join(
        _VALUE_OR_FUNCTION.sub(rename, _mark_block_arguments(line)) for line in text.splitlines(True)
    )


def _mark_block_arguments(line: str) -> str:
    """Write the arguments of a block, `^bb0(%a: f32)`, and all but the last of several results as definitions."""
    if line.lstrip().startswith("^"):
        return _BLOCK_ARGUMENT.sub(rf"\1{_DEFINED}", line)
    if results := _RESULTS.match(line):
        return _BEFORE_COMMA.sub(rf"\1{_DEFINED}", results[0]) + line[results.end() :]
    return line


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
