"""The rows of a benchmark: their log layout and their JSON form, both as FlagGems writes them today.

So one reader reads both suites. Layout: FlagGems benchmark/consts.py at ed2508bcb (2026-08-21).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

HEADER = f"{'Status':<10} {'Torch Latency (ms)':>20} {'Gems Latency (ms)':>20} {'Gems Speedup':>20}"


@dataclass
class Row:
    """One shape of one dtype. Latencies in milliseconds; what was not measured is None."""

    legacy_shape: int | None = None
    shape_detail: Any = None
    latency_base: float | None = None
    latency: float | None = None
    gbps_base: float | None = None
    gbps: float | None = None
    speedup: float | None = None
    accuracy: float | None = None
    tflops: float | None = None
    utilization: float | None = None
    compared_speedup: float | None = None
    error_msg: str | None = None


METRICS = tuple(f.name for f in fields(Row) if f.name not in ("legacy_shape", "shape_detail"))
DEFAULT_METRICS: tuple[str, ...] = ("latency_base", "latency", "speedup")
NEEDS = {"speedup": ("latency_base", "latency"), "tflops": ("latency",), "gbps": ("latency",)}


@dataclass
class Block:
    """All rows of one operator and dtype."""

    op_name: str
    dtype: str
    mode: str
    level: str
    result: list[Row]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def as_text(self) -> str:
        """Title, column names, dashes and one line a row, with an empty line before and after."""
        has_tflops = any(row.tflops for row in self.result)
        has_gbps = any(row.gbps is not None for row in self.result)
        names = HEADER + (f" {'TFLOPS':>20}" if has_tflops else "")
        names += f" {'Torch GBPS ':>20} {'Gems GBPS ':>20}" if has_gbps else ""
        names += f" {'Size Detail':>20}\n"
        run = f"dtype={self.dtype}, mode={self.mode},level={self.level}"
        title = f"\nOperator: {self.op_name}  Performance Test ({run})\n"
        lines = "".join(row_text(row, has_tflops, has_gbps) for row in self.result)
        return f"{title}{names}{'-' * len(names)}\n{lines}"


def row_text(row: Row, has_tflops: bool, has_gbps: bool) -> str:
    """One row of the table, columns right-aligned to 20, then the size detail."""
    status = "SUCCESS" if row.error_msg is None else "FAILED"
    cells = [_number(row.latency_base, 6), _number(row.latency, 6), _number(row.speedup, 3)]
    cells += [_number(row.tflops, 3)] if has_tflops else []
    cells += [_number(row.gbps_base, 3), _number(row.gbps, 3)] if has_gbps else []
    return f"{status:<10}{''.join(f'{cell:>20}' for cell in cells)}{' ' * 10}{row.shape_detail}\n"


def _number(value: float | None, digits: int) -> str:
    return "N/A" if value is None else f"{value:.{digits}f}"
