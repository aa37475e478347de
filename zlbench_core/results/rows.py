"""What a benchmark run left behind: rows, failures and the facts around them.

Latencies are milliseconds. What is not known is None, never 0 and never 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

SUCCESS = "SUCCESS"
FAILED = "FAILED"
MAX_ROWS = 20_000  # of one run; the largest comprehensive benchmark has some hundreds

BlockKey = tuple[str, str, str | None]  # op, dtype, mode
RowKey = tuple[str, str, str | None, str, int]  # op, dtype, mode, size, occurrence


class Row(NamedTuple):
    """One measured shape. `size` is canonical text (sizes.py); `occurrence` counts equal sizes from 0.

    Hundreds of thousands are made: a frozen dataclass takes four times as long.
    """

    op: str
    dtype: str
    mode: str | None
    level: str | None
    size: str
    occurrence: int = 0
    status: str = SUCCESS
    latency_base: float | None = None
    latency: float | None = None
    speedup: float | None = None
    tflops: float | None = None
    gbps_base: float | None = None
    gbps: float | None = None
    error: str | None = None

    @property
    def block(self) -> BlockKey:
        return (self.op, self.dtype, self.mode)

    @property
    def key(self) -> RowKey:
        return (self.op, self.dtype, self.mode, self.size, self.occurrence)

    @property
    def usable(self) -> bool:
        """Whether the row may be compared: it succeeded and its latency is a positive number."""
        return self.status == SUCCESS and positive(self.latency) is not None


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that went wrong.

    kind: test (a failed test), error (set-up, collection, usage), event (the suite's own FAILED line, whose
    fields are not to be trusted), crash (the interpreter died), infrastructure (not the operator's fault).
    """

    kind: str
    message: str
    op: str | None = None
    node: str | None = None


@dataclass(frozen=True, slots=True)
class PytestSummary:
    """pytest's closing line, counted."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    seconds: float | None = None


@dataclass(frozen=True)
class RunResult:
    """Everything that the files of one run folder say about its measurement.

    partial_dtypes   "op: dtype" for each dtype block that was asked for, or begun, and has no row
    markers          how often each marker word (BENCHMARK_..., AUTOTUNE_...) was printed
    row_markers      the markers that hold for single rows
    redefined        operators whose columns are not torch against gems
    exit_code        the `rc=N` that a wrapper wrote at the log's end
    cut_off          the log has no closing line of pytest: the run was stopped or died
    source           where the rows come from: json, log, json+log, none
    """

    rows: tuple[Row, ...] = ()
    failures: tuple[Failure, ...] = ()
    partial_dtypes: tuple[str, ...] = ()
    markers: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    pytest_summary: PytestSummary | None = None
    exit_code: int | None = None
    cut_off: bool = False
    skipped: tuple[str, ...] = ()
    redefined: tuple[str, ...] = ()
    row_markers: Mapping[RowKey, tuple[str, ...]] = field(default_factory=dict)
    source: str = "none"

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The dtypes that have rows, in the order of the run."""
        return tuple(dict.fromkeys(row.dtype for row in self.rows))


def positive(value: Any) -> float | None:
    """`value` as a float where it is a finite number above 0; None for everything else (no measurement)."""
    if type(value) is float:  # nearly all of hundreds of thousands
        return value if 0.0 < value < math.inf else None
    if value is None or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 0.0 < number < math.inf else None  # false for nan


def number_occurrences(rows: Iterable[Row]) -> list[Row]:
    """The rows in their order, each with its index among the rows of equal op, dtype, mode and size."""
    seen: dict[tuple[str, str, str | None, str], int] = {}
    numbered = []
    for row in rows:
        key = (row.op, row.dtype, row.mode, row.size)
        count = seen.get(key, 0)
        numbered.append(row if row.occurrence == count else row._replace(occurrence=count))
        seen[key] = count + 1
    return numbered
