"""Text that others wrote, made safe to show: bounded, without terminal commands, one line."""

from __future__ import annotations

import re

_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]+[0-~]|\x1b[@-Z\\-_]")


def strip_ansi(text: str) -> str:
    """`text` without colours, cursor movements and other terminal commands."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def printable(text: str) -> str:
    """`text` with each control, format or lone surrogate character written as its escape (\\x07, \\u202e)."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def one_line(text: str, limit: int = 500) -> str:
    """The first line of `text` that is not blank, printable, at most `limit` characters."""
    for line in text.splitlines():
        if stripped := strip_ansi(line).strip():
            return shortened(printable(stripped), limit)
    return ""


def shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."


def percent(share: float, digits: int = 3) -> str:
    """`share` of 1 as a percentage with up to that many significant digits: `0.5 %`."""
    return f"{100 * share:.{digits}g} %"


def level(share: float) -> str:
    """The level of an interval, which is not rounded to 100: `99.95 %`."""
    return percent(share, 8)
