"""The device's conditions while rows were timed, where the backend could ask: conditions.jsonl of each run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MAX_BYTES = 64 << 20  # of one run; what lies beyond is left out
_NUMBERS = ("sm_clock_mhz", "temperature_c", "power_w")


@dataclass
class Conditions:
    """Ranges over all askings, one a row or a block; `unreadable` counts lines that are no JSON object."""

    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    throttled: Counter[str] = field(default_factory=Counter)
    shared: int = 0  # times that which another process was on the device
    rows: int = 0
    unreadable: int = 0

    def add(self, other: Conditions) -> None:
        for name, (low, high) in other.ranges.items():
            known = self.ranges.get(name, (low, high))
            self.ranges[name] = (min(known[0], low), max(known[1], high))
        self.throttled.update(other.throttled)
        self.shared += other.shared
        self.rows += other.rows
        self.unreadable += other.unreadable


def read_conditions(run_dir: Path, duet: bool = False) -> Conditions:
    """The conditions of one run; empty where none were recorded. A duet keeps them beside each block."""
    found = Conditions()
    for line in _lines(run_dir / ("samples.jsonl" if duet else "conditions.jsonl")):
        try:
            record = json.loads(line) if not duet or b'"conditions"' in line else {}
            for row in _blocks(record) if duet else [record]:
                _add_row(found, row)
        except (ValueError, TypeError, AttributeError, RecursionError):
            found.unreadable += 1
    return found


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with open(path, "rb") as stream:
            yield from stream.read(MAX_BYTES).splitlines()
    except OSError:
        return


def _blocks(record: dict[str, Any]) -> list[dict[str, Any]]:
    return [block["conditions"] for block in record.get("blocks", ()) if "conditions" in block]


def _add_row(found: Conditions, row: dict[str, Any]) -> None:
    numbers = {name: float(row[name]) for name in _NUMBERS if row.get(name) is not None}
    one = Conditions(
        {name: (value, value) for name, value in numbers.items()},
        Counter(str(reason) for reason in row.get("throttle_reasons") or () if reason != "gpu_idle"),
        int(bool(row.get("other_processes"))),
        1,
    )
    found.add(one)


def conditions_rows(runs: Iterable[Any]) -> list[dict[str, str]]:
    """One line per operator and side that has conditions."""
    sides: dict[tuple[str, str], Conditions] = {}
    for run in runs:
        if run.conditions.rows or run.conditions.unreadable:
            sides.setdefault((run.op, run.side), Conditions()).add(run.conditions)
    return [{"op": op, "side": side, **_told(found)} for (op, side), found in sides.items()]


def _told(found: Conditions) -> dict[str, str]:
    return {
        **{name: _range(found.ranges.get(name)) for name in _NUMBERS},
        "throttled": ", ".join(f"{name} in {count}" for name, count in found.throttled.items()) or "never",
        "shared": f"{found.shared} of {found.rows}" if found.shared else "never",
        "rows": str(found.rows) + (f", {found.unreadable} unreadable" if found.unreadable else ""),
    }


def _range(bounds: tuple[float, float] | None) -> str:
    if bounds is None:
        return "not told"
    low, high = bounds
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
