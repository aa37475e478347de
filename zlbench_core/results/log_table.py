"""The table that the suite prints, in every form it had (pure functions, one line each).

    from     title                                                  header             a row starts with
    2024-05  Operator X Performance Test (dtype=D, mode=cuda)       Size               the size
    2024-10  Operator: X  Performance Test (..., level=core)        Size, Size Detail  the size or N/A
    2024-11  the same                                               Status             SUCCESS or FAILED
    2024-11  (..., mode=cuda,level=core) with TFLOPS, else as above Size (!)           SUCCESS or FAILED
    2024-12  (..., mode=cuda,level=core); TFLOPS, GBPS optional     Status             SUCCESS or FAILED
    2025-07  mode=kernel|operator|wrapper, later cudagraph          Status             SUCCESS or FAILED

The header, not the title, decides what a row starts with; where header and row disagree on the columns
(each row leaves out a TFLOPS of 0), the number of values decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from zlbench_core.common.text import printable
from zlbench_core.results.rows import FAILED, SUCCESS, BlockKey, Row, positive
from zlbench_core.results.sizes import UNKNOWN_SIZE, size_from_log

MAX_TITLE_CHARS = 500
MAX_ROW_CHARS = 16_384
PROGRESS_CHARS = frozenset(".FEsxXpPuRr")

_LABELS = {
    "torch latency (ms)": "latency_base",
    "gems latency (ms)": "latency",
    "gems speedup": "speedup",
    "tflops": "tflops",
    "torch gbps": "gbps_base",
    "gems gbps": "gbps",
}
_LATENCIES = ("latency_base", "latency", "speedup")
_BY_COUNT = {
    3: _LATENCIES,
    4: (*_LATENCIES, "tflops"),
    5: (*_LATENCIES, "gbps_base", "gbps"),
    6: (*_LATENCIES, "tflops", "gbps_base", "gbps"),
}
_VALUE = r"(?:N/A|nan|-?inf|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)"
_VALUES = re.compile(rf"((?:\s+{_VALUE}(?=\s|$))+)(?:\s+(\S.*))?$")
_SIZE_FIRST = re.compile(rf"({_VALUE})((?:\s+{_VALUE}(?=\s|$))+)(?:\s+(\S.*))?$")


@dataclass(frozen=True)
class Title:
    op: str
    dtype: str
    mode: str | None
    level: str | None

    @property
    def block(self) -> BlockKey:
        return (self.op, self.dtype, self.mode)


@dataclass(frozen=True)
class Header:
    """The columns between the first one and Size Detail; None for a column that is none of ours."""

    size_first: bool
    size_detail: bool
    columns: tuple[str | None, ...]
    foreign: tuple[str, ...]  # labels that redefine what a column means


class ParsedRow(NamedTuple):
    row: Row
    size_known: bool


def after_progress(line: str, word: str) -> str | None:
    """What follows `word` where only progress characters or pytest's own words and paths precede it."""
    prefix, found, rest = line.partition(word)
    if not found:
        return None
    for part in prefix.split():
        if not (PROGRESS_CHARS.issuperset(part) or ".py" in part or part in ("PASSED", "SKIPPED")):
            return None
    return rest


def parse_title(line: str) -> Title | None:
    """The title of a block, or None. Anything may be an operator's name, except nothing."""
    if len(line) > MAX_TITLE_CHARS or (rest := after_progress(line, "Operator")) is None:
        return None
    name, found, facts = rest.partition("Performance Test (")
    name = name.removeprefix(":").strip()
    if not found or not name or rest[:1] not in (":", " "):
        return None
    parts = [part.strip() for part in facts.rpartition(")")[0].split(",")]
    named = dict(part.split("=", 1) for part in parts if "=" in part)
    dtype = named.get("dtype") or (parts[0] if "=" not in parts[0] else "")
    if not dtype:
        return None
    mode, level = named.get("mode"), named.get("level")
    return Title(printable(name), printable(dtype), mode and printable(mode), level and printable(level))


def parse_header(line: str) -> Header | None:
    """The header of a block, or None. Columns are told by their labels, else by their place."""
    first, *labels = re.split(r"\s{2,}", line.strip()[:MAX_TITLE_CHARS])
    if first not in ("Status", "Size") or not labels:
        return None
    size_detail = labels[-1] == "Size Detail"
    labels = labels[:-1] if size_detail else labels
    known = [_LABELS.get(label.strip().lower()) for label in labels]
    foreign = tuple(printable(label) for label, field in zip(labels, known, strict=True) if field is None)
    columns = tuple(field or _by_place(label, known) for label, field in zip(labels, known, strict=True))
    return Header(first == "Size", size_detail, columns, foreign)


def _by_place(label: str, known: list[str | None]) -> str | None:
    """A baseline with another name ("vLLM CUDA Latency (ms)") takes the baseline's column."""
    for ending, field in (("Latency (ms)", "latency_base"), ("GBPS", "gbps_base")):
        if label.strip().endswith(ending) and field not in known:
            return field
    return None


def parse_row(line: str, title: Title, header: Header | None) -> ParsedRow | str | None:
    """A row; a sentence where the line is a row that cannot be trusted; None where it is no row."""
    if len(line) > MAX_ROW_CHARS:
        return f"a row of {title.op} longer than {MAX_ROW_CHARS} characters was left out"
    line = line.rstrip()
    for status in (SUCCESS, FAILED):
        rest = after_progress(line, status)
        if rest is not None and (match := _VALUES.match(rest)):
            return _row(title, header, status, *_split_detail(match.group(1), match.group(2), header))
    if header and header.size_first and (match := _SIZE_FIRST.match(line.strip())):
        return _size_first_row(title, header, match)
    return None


def _size_first_row(title: Title, header: Header, match: re.Match[str]) -> ParsedRow | str | None:
    """The forms without a status; a foreign line of numbers is no row unless it has the header's columns."""
    values, detail = _split_detail(match.group(2), match.group(3), header)
    if len(values) != len(header.columns) or (detail is not None) != header.size_detail:
        return None
    return _row(title, header, SUCCESS, values, detail if header.size_detail else match.group(1))


def _split_detail(text: str, detail: str | None, header: Header | None) -> tuple[list[str], str | None]:
    """A size that is unknown reads N/A, like a value: it is the last of one value too many."""
    values = text.split()
    if detail is not None:
        return values, detail
    expected = len(header.columns) if header else len(_LATENCIES)
    if len(values) == expected + 1 and values[-1] == UNKNOWN_SIZE:
        return values[:-1], UNKNOWN_SIZE
    return values, detail


def _row(
    title: Title, header: Header | None, status: str, values: list[str], detail: str | None
) -> ParsedRow | str:
    fields = _fields(header, len(values))
    if fields is None or detail is None:
        return f"a row of {title.op} {title.dtype} with {len(values)} values was left out"
    size, known = size_from_log(detail)
    numbers = {name: positive(value) for name, value in zip(fields, values, strict=True) if name}
    base, latency = numbers.get("latency_base"), numbers.get("latency")
    speedup = numbers.get("speedup")
    if "0.000" in values and speedup is None and base and latency:
        speedup = base / latency  # printed with three decimals: a small speedup reads 0.000
    row = Row(
        title.op,
        title.dtype,
        title.mode,
        title.level,
        size,
        status=status,
        latency_base=base,
        latency=latency,
        speedup=speedup,
        tflops=numbers.get("tflops"),
        gbps_base=numbers.get("gbps_base"),
        gbps=numbers.get("gbps"),
    )
    return ParsedRow(row, known)


def _fields(header: Header | None, count: int) -> tuple[str | None, ...] | None:
    if header and len(header.columns) == count:
        return header.columns
    if header and None in header.columns:
        return None
    return _BY_COUNT.get(count)
