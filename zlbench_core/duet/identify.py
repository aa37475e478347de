"""Which row is this? The same answer on both sides, from what the benchmark says and what its call holds.

The operator itself is left out: it may have another name on the other side, and is the same row all the same.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from zlbench_core.common.files import digest_of

MAX_FRAMES = 60
MAX_ITEMS = 64
MAX_DEPTH = 4
MAX_LABEL = 160
PLAIN = ("dtype", "device", "layout", "memory_format")  # torch's words that are told by their text
ROW_NAMES = ("metric", "row")  # what the suites call the object that holds a row's `shape_detail`


@dataclass(frozen=True)
class RowId:
    """`occurrence` counts the rows of one process with the same key from 0; `label` is for people."""

    key: str
    occurrence: int
    label: str


class RowIds:
    """Gives each timed call of a process its identity."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def next(self, node: str, call: Callable[..., Any]) -> RowId:
        known = _benchmark_knows()
        key = digest_of([node, known, described(call)])
        occurrence = self._seen[key]
        self._seen[key] += 1
        return RowId(key, occurrence, _label(node, known))


def described(value: Any, depth: int = 0) -> Any:
    """A JSON-able description that is equal for equal work: types, shapes and sizes, never contents."""
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return _tensor(value)
    if depth >= MAX_DEPTH:
        return type(value).__name__
    if isinstance(value, dict):
        return {str(name): described(item, depth + 1) for name, item in list(value.items())[:MAX_ITEMS]}
    if isinstance(value, list | tuple):
        return [len(value), *(described(item, depth + 1) for item in value[:MAX_ITEMS])]
    if callable(value):
        return _closure(value, depth) if depth == 0 else "callable"
    return str(value) if type(value).__name__ in PLAIN else type(value).__name__


def _tensor(value: Any) -> list[Any]:
    strides = value.stride() if callable(getattr(value, "stride", None)) else ()
    return ["tensor", str(value.dtype), list(map(int, value.shape)), list(map(int, strides))]


def _closure(call: Callable[..., Any], depth: int) -> dict[str, Any]:
    """The variables that a timed lambda holds, and its defaults."""
    names = getattr(getattr(call, "__code__", None), "co_freevars", ())
    cells = getattr(call, "__closure__", None) or ()
    held = {name: _content(cell) for name, cell in zip(names, cells, strict=False)}
    held |= {f"default {i}": value for i, value in enumerate(getattr(call, "__defaults__", None) or ())}
    held |= (
        {"args": getattr(call, "args", None), "keywords": getattr(call, "keywords", None)} if not held else {}
    )
    return {name: described(value, depth + 1) for name, value in held.items() if not callable(value)}


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a variable that is not bound yet
        return None


def _benchmark_knows() -> dict[str, str]:
    """The operator, data type and sizes as the benchmark above on the stack names them, as far as it does."""
    known: dict[str, str] = {}
    for frame in _stack(sys._getframe(2)):
        local = frame.f_locals
        row = next((local[name] for name in ROW_NAMES if hasattr(local.get(name), "shape_detail")), None)
        if row is not None:
            known.setdefault("sizes", str(row.shape_detail))
        if isinstance(getattr(local.get("self"), "op_name", None), str):
            known.setdefault("op", local["self"].op_name)
            if "dtype" in local:
                known.setdefault("dtype", str(local["dtype"]))
    return known


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    for _ in range(MAX_FRAMES):
        if frame is None:
            return
        yield frame
        frame = frame.f_back


def _label(node: str, known: dict[str, str]) -> str:
    words = [known[name] for name in ("op", "dtype", "sizes") if name in known]
    return " ".join(" ".join(words or [node]).split())[:MAX_LABEL]


def as_text(row: RowId) -> str:
    """The row in one line, for messages."""
    return row.label if row.occurrence == 0 else f"{row.label} (occurrence {row.occurrence})"
