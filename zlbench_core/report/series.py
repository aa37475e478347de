"""Latencies by round, row by row: where a drift shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zlbench_core.errors import ReadError
from zlbench_core.results.reader import read_run
from zlbench_core.results.rows import positive


@dataclass
class RowSeries:
    """One row. `points` are (round, latency a, latency b) in milliseconds; b is None where one side ran alone."""

    label: str
    points: list[tuple[int, float | None, float | None]] = field(default_factory=list)


def series_of_table(lines: Iterable[Mapping[str, str]]) -> dict[str, list[RowSeries]]:
    """From the lines of ab.csv."""
    found: dict[str, dict[str, RowSeries]] = {}
    for line in lines:
        label = row_label(
            line["fg_op_name"], line["op"], line["dtype"], line["size"], int(line["occurrence"])
        )
        row = found.setdefault(line["op"], {}).setdefault(f"{label} {line['mode']}", RowSeries(label))
        times = (positive(line["latency_a_ms"]), positive(line["latency_b_ms"]))
        row.points.append((int(line["round"]), *times))
    return {op: list(rows.values()) for op, rows in found.items()}


def series_of_runs(runs: Iterable[tuple[str, int, Path]]) -> dict[str, list[RowSeries]]:
    """From the runs of a campaign with one side alone. A run that cannot be read has its status row instead."""
    found: dict[str, dict[Any, RowSeries]] = {}
    for op, number, folder in runs:
        try:
            rows = read_run(folder).rows
        except ReadError:
            continue
        for row in rows:
            label = row_label(row.op, op, row.dtype, row.size, row.occurrence)
            series = found.setdefault(op, {}).setdefault(row.key, RowSeries(label))
            series.points.append((number, row.latency if row.usable else None, None))
    return {op: list(rows.values()) for op, rows in found.items()}


def row_label(own: str, op: str, dtype: str, size: str, occurrence: int) -> str:
    """`float32 [[64, 64]] #1`, with the row's own operator where the campaign calls it otherwise."""
    parts = [
        own if own != op else "",
        dtype.removeprefix("torch."),
        size,
        f"#{occurrence}" if occurrence else "",
    ]
    return " ".join(filter(None, parts))
