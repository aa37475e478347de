"""Ties the timed calls of samples.jsonl to the rows that were made from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from zlbench_core.common.text import one_line
from zlbench_core.errors import ReadError
from zlbench_core.results.rows import Row, RowKey, positive

FILE_NAME = "samples.jsonl"
MAX_SAMPLES_BYTES = 512 << 20
MAX_LINE_BYTES = 16 << 20
LOOK_AHEAD = 64  # calls without a row between two rows: the shapes that failed
_KNOWN = frozenset(
    ("seq", "node", "timer", "samples_ms", "value_ms", "fallback", "batch", "flush_l2", "blocks")
)
_PRINTED_HALF_MS = 0.5e-6  # the log prints latencies with six decimals


class TimedCall(NamedTuple):
    """One line of samples.jsonl: times in ms; `fallback` says why another timer than asked for was used.

    `batch`: launches between two clock readings. `blocks`: those of a duet, as they stand there. `extra`: whatever
    else the line holds, so that nothing of it is lost.
    """

    seq: int
    node: str
    timer: str
    samples_ms: tuple[float, ...]
    value_ms: float | None
    fallback: str | None
    batch: int = 1
    flush_l2: bool | None = None
    blocks: tuple[Mapping[str, Any], ...] = ()
    extra: Mapping[str, Any] = MappingProxyType({})


class RowCalls(NamedTuple):
    """The timed calls behind a row; None where it cannot be told which call it was."""

    base: TimedCall | None
    measured: TimedCall | None

    @property
    def fallback(self) -> str | None:
        return next((call.fallback for call in (self.measured, self.base) if call and call.fallback), None)


def read_samples(path: Path | str) -> list[TimedCall]:
    """Every timed call of a run. A last line that breaks off is left out.

    Raises ReadError where the file is missing, too large, or holds another form.
    """
    try:
        with open(path, "rb") as stream:
            return list(_calls(stream, path))
    except OSError as error:
        raise ReadError(f"cannot read samples {path}: {error}") from None


def _calls(stream: Any, path: Path | str) -> Iterator[TimedCall]:
    seen = 0
    while line := stream.readline(MAX_LINE_BYTES):
        seen += len(line)
        if not line.endswith(b"\n"):
            if len(line) == MAX_LINE_BYTES:
                raise ReadError(f"samples {path} has a line longer than {MAX_LINE_BYTES} bytes")
            return
        if seen > MAX_SAMPLES_BYTES:
            raise ReadError(f"samples {path} is larger than {MAX_SAMPLES_BYTES} bytes")
        yield _call(line, path)


def _call(line: bytes, path: Path | str) -> TimedCall:
    try:
        record = json.loads(line)
        samples = tuple(float(value) for value in record["samples_ms"])
        seq, node, timer = _number(record["seq"]), _text(record["node"]), _text(record["timer"])
        value, fallback = positive(record.get("value_ms")), record.get("fallback")
        batch, blocks = _number(record.get("batch", 1)), _blocks(record.get("blocks"))
        extra = {name: found for name, found in record.items() if name not in _KNOWN}
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise ReadError(f"samples {path}: a line is no timed call: {type(error).__name__} {error}") from None
    if batch < 1:
        raise ReadError(f"samples {path}: batch is {batch}; 1 or more launches are expected")
    said, flush = one_line(str(fallback)) if fallback else None, record.get("flush_l2")
    flush = flush if isinstance(flush, bool) else None
    return TimedCall(seq, node, timer, samples, value, said, batch, flush, blocks, extra)


def _number(value: Any) -> int:
    """A whole number that samples.parquet can hold."""
    number = int(value)
    if abs(number) >= 1 << 63:
        raise OverflowError(f"a number has {number.bit_length()} bits; 63 are allowed")
    return number


def _text(value: Any) -> str:
    text = str(value)
    text.encode()  # half a character, which JSON can hold, is no text
    return text


def _blocks(value: Any) -> tuple[Mapping[str, Any], ...]:
    blocks = () if value is None else tuple(value)
    if not all(isinstance(block, Mapping) for block in blocks):
        raise TypeError("blocks holds something else than objects")
    return blocks


def calls_of_rows(
    rows: Iterable[Row], calls: Sequence[TimedCall], *, rounded: bool = False
) -> dict[RowKey, RowCalls]:
    """The timed calls of each row, found by their values: rows and calls stand in the order of the run.

    A row's baseline is timed before the row itself; calls that became no row (a failed shape) are skipped.
    `rounded` says that the rows were printed with six decimals.
    """
    slack = _PRINTED_HALF_MS if rounded else 0.0
    found: dict[RowKey, RowCalls] = {}
    position = 0
    for row in rows:
        base = _find(calls, row.latency_base, position, slack)
        position = position if base is None else base + 1
        measured = _find(calls, row.latency, position, slack)
        position = position if measured is None else measured + 1
        found[row.key] = RowCalls(_at(calls, base), _at(calls, measured))
    return found


def _at(calls: Sequence[TimedCall], index: int | None) -> TimedCall | None:
    return None if index is None else calls[index]


def _find(calls: Sequence[TimedCall], value: float | None, start: int, slack: float) -> int | None:
    if value is None:
        return None
    for index in range(start, min(start + LOOK_AHEAD, len(calls))):
        known = calls[index].value_ms
        if known is not None and abs(known - value) <= slack:
            return index
    return None
