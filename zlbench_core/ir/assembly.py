"""PTX and GNU-style assembler text without line tables, debug sections and comments."""

from __future__ import annotations

import re
from collections.abc import Callable

_STRING = r'"(?:[^"\\]|\\.)*"'
_LABEL = re.compile(r"^\s*([$.\w]+):\s*$")
_WORD = re.compile(r"[$.\w]+")

_PTX_COMMENT = re.compile(rf"{_STRING}|//[^\n]*")
_PTX_DEBUG_SECTION = re.compile(r"^\s*\.section\s+\.debug_\w+\s*\{[^}]*\}", re.MULTILINE)
_PTX_LINE = re.compile(r"^\s*\.(loc|file)\s")
_PTX_LABEL = re.compile(r"\$L__(tmp|func_begin|func_end)\d+$")

_GAS_COMMENT = re.compile(rf"{_STRING}|;[^\n]*")
_GAS_SECTION = re.compile(r"^\s*\.(section|text|data|bss|amdgpu_metadata)\b")
_GAS_DEBUG_SECTION = re.compile(r"^\s*\.section\s+\"?\.debug_")
_GAS_LINE = re.compile(r"^\s*\.(loc|file|cfi_\w+|ident)\b")
_GAS_LABEL = re.compile(r"\.L(tmp|func_begin|func_end)\d+$")


def readable_ptx(text: str) -> str:
    """Drop `.loc`, `.file`, `.debug_*` sections, comments and the labels for line tables.

    A `.target` with `debug` in it stays: ptxas makes other code of it.
    """
    text = _PTX_DEBUG_SECTION.sub("", _without(_PTX_COMMENT, text))
    lines = [line.rstrip() for line in text.splitlines() if not _PTX_LINE.match(line)]
    return _without_idle_labels(lines, _PTX_LABEL.match)


def readable_gas(text: str) -> str:
    """Drop `.loc`, `.file`, call frames, `.debug_*` sections, comments and the labels for line tables."""
    lines, in_debug = [], False
    for line in _without(_GAS_COMMENT, text).splitlines():
        if _GAS_SECTION.match(line):
            in_debug = bool(_GAS_DEBUG_SECTION.match(line))
        if not in_debug and not _GAS_LINE.match(line):
            lines.append(line.rstrip())
    return _without_idle_labels(lines, _GAS_LABEL.match)


def _without(comment: re.Pattern[str], text: str) -> str:
    return comment.sub(lambda match: match[0] if match[0].startswith('"') else "", text)


def _without_idle_labels(lines: list[str], is_marker: Callable[[str], object]) -> str:
    """Drop empty lines, and the marker labels that no line left over refers to."""
    used = {word for line in lines if not _LABEL.match(line) for word in _WORD.findall(line)}
    kept = (
        line
        for line in lines
        if line and not ((label := _LABEL.match(line)) and is_marker(label[1]) and label[1] not in used)
    )
    return "".join(f"{line}\n" for line in kept)
