"""code.csv: which operators a change touches, from which stage on, at what static cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from zlbench_core.results.columns import Line
from zlbench_core.results.tables import CODE, CODE_SHOWN, COSTS

FINDINGS = {"identical": "no code change", "different": "code changed", "unknown": "unknown"}


def code_lines(gates: Mapping[str, Mapping[str, Any]]) -> Iterator[Line]:
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
        yield CODE.line(line)


def shown_lines(table: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    """The lines of code.csv as they are printed: each change as a span, no count where there is no variant."""
    for line in table:
        shown = {name: line[name] for name in CODE_SHOWN.names if name in line}
        lone = {name: line[name] or None for name in ("only_in_a", "only_in_b")}
        yield CODE_SHOWN.line({**shown, **lone, **{name: _span(line, name) for name in COSTS}})


def _span(line: Mapping[str, Any], name: str) -> str | None:
    low, high = line[f"{name}_min"], line[f"{name}_max"]
    if low is None:
        return None
    return _signed(low) if low == high else f"{_signed(low)}..{_signed(high)}"


def _signed(change: int) -> str:
    return f"{change:+d}" if change else "0"
