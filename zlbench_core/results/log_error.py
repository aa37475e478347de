"""One error of a traceback as one line. Triton's quote the source, point at a column with ^, and say the cause last."""

from __future__ import annotations

import re
from dataclasses import dataclass

from zlbench_core.common.text import one_line

CHAINED = "The above exception was the direct cause of the following exception"
_POINTER = re.compile(r"[\^~]+")
_SYNTAX_PLACE = re.compile(r'File "(?:.*/)?([^/"]+)", line (\d+)')  # how Python begins to tell a SyntaxError
_ERROR = re.compile(r"[A-Za-z_]\w*: .")
_PLACE = re.compile(r"\S+:\d+: \w+")  # how pytest closes one traceback


@dataclass
class ErrorBlock:
    """The lines of one error. `before` is the cause that was told before it, where it was raised from another."""

    first: str = ""
    before: str = ""
    last: str = ""

    def add(self, line: str) -> None:
        line = one_line(line)
        if line and not self.first:
            self.first = line
        elif line:
            self.last = "" if _POINTER.fullmatch(line) else line

    @property
    def reason(self) -> str:
        """The error's type and message; where the first line only announces what follows, the cause as well."""
        place = _SYNTAX_PLACE.fullmatch(self.first)
        if place is not None and _ERROR.match(self.last):
            return one_line(f"{self.last} ({place[1]}, line {place[2]})")
        cause = self.last or self.before
        return one_line(f"{self.first} {cause}") if announces(self.first) and cause else self.first


def announces(reason: str) -> bool:
    """Whether a reason breaks off before it says anything: `CompilationError: at 7:15:`."""
    return reason.endswith(":")


def error_reason(text: str) -> str:
    """The reason in one line of an error that is given with all its lines."""
    block = ErrorBlock()
    for line in text.splitlines():
        block.add(line)
    return block.reason


def chained_cause(line_before: str, block: ErrorBlock) -> str:
    """What the error before CHAINED said; `line_before` is its last line, `block` its marked lines if it has them."""
    return block.reason if _PLACE.fullmatch(line_before.strip()) else one_line(line_before)
