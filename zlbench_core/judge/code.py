"""code.csv: which operators a change touches, from which stage on, at what static cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

FINDINGS = {"identical": "no code change", "different": "code changed", "unknown": "unknown"}
COLUMNS = (
    "op",
    "finding",
    "first_stage",
    "variants",
    "changed",
    "only_in_a",
    "only_in_b",
    "registers",
    "spills",
    "instructions",
    "reason",
)


def code_lines(gates: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """One line per operator, from its ir_gate.json. Changes are b - a over the variants that differ."""
    for op, gate in gates.items():
        counts = gate["counts"]
        line = {
            "op": op,
            "finding": FINDINGS[gate["verdict"]],
            "first_stage": gate["first_stage"],
            "variants": counts["compared"] + counts["only_in_a"] + counts["only_in_b"],
            "changed": counts["different"],
            "only_in_a": counts["only_in_a"],
            "only_in_b": counts["only_in_b"],
            "only_locations": gate["only_locations"],
            "reason": gate["reason"],
        }
        for name, span in gate["cost_change"].items():
            line[f"{name}_min"], line[f"{name}_max"] = (span["min"], span["max"]) if span else (None, None)
        yield line


def shown_lines(table: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """The lines of code.csv as they are printed: each change as a span, columns without a variant left out."""
    return [{**line, **{name: _span(line, name) for name in COLUMNS[7:10]}} | _counts(line) for line in table]


def _span(line: Mapping[str, str], name: str) -> str | None:
    low, high = line[f"{name}_min"], line[f"{name}_max"]
    if not low:
        return None
    return _signed(low) if low == high else f"{_signed(low)}..{_signed(high)}"


def _signed(text: str) -> str:
    return f"{int(text):+d}" if int(text) else "0"


def _counts(line: Mapping[str, str]) -> dict[str, int | None]:
    counts: dict[str, int | None] = {name: int(line[name]) for name in ("variants", "changed")}
    return counts | {name: int(line[name]) or None for name in ("only_in_a", "only_in_b")}
