"""One text for one size, whether it was read from JSON or from Python's repr in a log.

log   ([torch.Size([64, 64])], {'dim': -1})
JSON  [[[64, 64]], {"dim": -1}]
both  [[[64, 64]], {"dim": -1}]
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from functools import lru_cache
from typing import Any

from zlbench_core.common.text import printable

MAX_SIZE_CHARS = 1000
MAX_KNOWN_SIZES = 10_000
UNKNOWN_SIZE = "N/A"

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<number>-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?![\w.])
      | (?P<call>[A-Za-z_][\w.]*\()
      | (?P<word>-?[A-Za-z_][\w.]*)
      | (?P<mark>[][(){},:])""",
    re.VERBOSE,
)
_WORDS = {
    "None": "null",
    "True": "true",
    "False": "false",
    "inf": "Infinity",
    "-inf": "-Infinity",
    "nan": "NaN",
}
_ENCODE = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
_CLOSING = {"[": "]", "(": "]", "{": "}"}
_known_sizes: dict[str, str] = {}


def canonical_size(value: Any) -> str:
    """The size text of a shape detail that was read from JSON. None is `N/A`."""
    if value is None:
        return UNKNOWN_SIZE
    told = repr(value)  # by which the values of a campaign are known again: equal reprs, equal JSON
    if told in _known_sizes:
        return _known_sizes[told]
    size = _bounded(_ENCODE(value))
    if len(told) <= MAX_SIZE_CHARS and len(_known_sizes) < MAX_KNOWN_SIZES:
        _known_sizes[told] = size
    return size


@lru_cache(maxsize=65536)
def size_from_log(text: str) -> tuple[str, bool]:
    """The size text of a log's Size Detail, and whether it could be parsed; otherwise it stays as it is."""
    if text == UNKNOWN_SIZE:
        return UNKNOWN_SIZE, True
    try:
        return canonical_size(json.loads(_json_of_repr(text))), True
    except (ValueError, SyntaxError, RecursionError):
        return _bounded(" ".join(text.split())), False


def _bounded(text: str) -> str:
    text = printable(text)
    if len(text) <= MAX_SIZE_CHARS:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"{text[:200]}... sha256:{digest}"


def _json_of_repr(text: str) -> str:
    """Rewrite the repr of lists, tuples, dicts, torch.Size and plain values as JSON text.

    Raises ValueError where the text holds anything else.
    """
    parts: list[str] = []
    closing: list[str] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"unknown token at {position}")
        position = match.end()
        _translate(match.lastgroup, match.group(), parts, closing)
    return "".join(parts)


def _translate(kind: str | None, token: str, parts: list[str], closing: list[str]) -> None:
    if kind == "space":
        parts.append(" ")
    elif kind == "string":
        parts.append(json.dumps(ast.literal_eval(token)))
    elif kind == "number":
        parts.append(token)
    elif kind == "word":
        parts.append(_WORDS.get(token) or json.dumps(token))
    elif kind == "call":  # torch.Size([...]): the call adds nothing to its argument
        closing.append("")
    elif kind == "mark":
        _translate_mark(token, parts, closing)


def _translate_mark(mark: str, parts: list[str], closing: list[str]) -> None:
    if mark in _CLOSING:
        closing.append(_CLOSING[mark])
        parts.append("[" if mark == "(" else mark)
    elif mark in "])}":
        if parts and parts[-1] == ",":  # a tuple of one: (5,)
            parts.pop()
        parts.append(closing.pop() if closing else mark)
    else:
        parts.append(mark)
