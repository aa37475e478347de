"""The lines of the campaign's tables, made from the runs of one operator (pure functions)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from zlbench_core.results.fallbacks import exclusion
from zlbench_core.results.pairing import PairedRow, pair_rows
from zlbench_core.results.rows import Row, RowKey, RunResult
from zlbench_core.results.status import STATUSES, OperatorStatus, operator_status

Line = dict[str, Any]
_WORST_FIRST = ("crashed", "timeout", "failed", "no_pins", "no_data", "partial", "skipped", "ok")
assert set(_WORST_FIRST) == set(STATUSES)


@dataclass(frozen=True)
class SideRun:
    """One replay: side "a" or "b", round from 1, what it left (None: nothing readable), its identity."""

    side: str
    round: int
    result: RunResult | None
    identity: Mapping[str, Any] = field(default_factory=dict)
    order: str = ""  # which side ran first in this round: "AB" or "BA"


def status_line(op: str, side: str, runs: Sequence[SideRun], *, measured: bool = True) -> Line:
    """The line of ops_status.csv for one side: the worst of its rounds decides, markers are added up."""
    mine = [run for run in runs if run.side == side]
    judged = [(run, operator_status(run.result, run.identity, measured=measured)) for run in mine]
    run, status = min(judged, key=lambda item: _WORST_FIRST.index(item[1].status), default=_no_run(side))
    result = run.result or RunResult()
    markers: Counter[str] = Counter()
    for other in mine:
        markers.update(other.result.markers if other.result else {})
    exit_code = run.identity.get("pytest_exit", result.exit_code)
    return {
        **_facts(mine, ("backend", "device", "gpu", "timer")),
        "op": op,
        "side": side,
        "status": status.status,
        "reason": f"round {run.round}: {status.reason}" if status.reason and len(mine) > 1 else status.reason,
        "pytest_exit": exit_code,
        "rows": len(result.rows) if run.result else None,
        "partial_dtypes": result.partial_dtypes,
        "markers": dict(sorted(markers.items())),
        "rounds": len(mine),
    }


def _no_run(side: str) -> tuple[SideRun, OperatorStatus]:
    return SideRun(side, 0, None), OperatorStatus("crashed", "no run was made")


def _facts(runs: Sequence[SideRun], names: Sequence[str]) -> Line:
    """What the identities say, by the first run that says it."""
    return {
        name: next((run.identity[name] for run in runs if run.identity.get(name) is not None), None)
        for name in names
    }


def ab_lines(op: str, runs: Sequence[SideRun]) -> list[Line]:
    """The lines of ab.csv: each round's rows; those not compared have the reason and no ratio."""
    lines: list[Line] = []
    for number in sorted({run.round for run in runs}):
        sides = {run.side: run for run in runs if run.round == number}
        order = next((run.order for run in sides.values() if run.order), None)
        a, b = ((sides[side].result if side in sides else None) or RunResult() for side in "ab")
        lines += [{"op": op, "round": number, "order": order, **line} for line in _round_lines(a, b)]
    return lines


def _round_lines(a: RunResult, b: RunResult) -> Iterator[Line]:
    """One side that left nothing has no rows: the other's rows are then named as excluded."""
    pairing = pair_rows(a.rows, b.rows)
    for pair in pairing.paired:
        yield _pair_line(pair, a, b)
    for side, rows, other in (("a", pairing.only_a, "b"), ("b", pairing.only_b, "a")):
        for row in rows:
            note = f"excluded: {other} has no such row"
            yield {**_key_cells(row.key), f"latency_{side}_ms": row.latency, "note": note}
    for refusal in pairing.refused:
        key = (refusal.op, refusal.dtype, refusal.mode, refusal.size, refusal.occurrence)
        yield {**_key_cells(key), "note": f"excluded: {refusal.reason}"}


def _pair_line(pair: PairedRow, a: RunResult, b: RunResult) -> Line:
    marker_a, marker_b = a.row_markers.get(pair.a.key, ()), b.row_markers.get(pair.b.key, ())
    reason = exclusion(marker_a, marker_b)
    return {
        **_key_cells(pair.a.key),
        "latency_a_ms": pair.a.latency,
        "latency_b_ms": pair.b.latency,
        "ratio": None if reason else pair.ratio,
        "marker_a": marker_a,
        "marker_b": marker_b,
        "note": f"excluded: {reason}" if reason else None,
    }


def _key_cells(key: tuple[str, str, str | None, str, int | None]) -> Line:
    return dict(zip(("fg_op_name", "dtype", "mode", "size", "occurrence"), key, strict=True))


def ab_summary(op: str, runs: Sequence[SideRun], lines: Sequence[Line]) -> list[Line]:
    """The lines of summary.csv of an A/B campaign: medians over the rounds of `ab_lines`, the ratio's range.

    A row that no round compares keeps its line, without a number and with the reason.
    """
    grouped: dict[tuple[Any, ...], list[Line]] = defaultdict(list)
    for line in lines:
        grouped[tuple(line[name] for name in ("fg_op_name", "dtype", "mode", "size", "occurrence"))].append(
            line
        )
    facts = _facts(runs, ("backend", "device", "timer"))
    return [
        {**facts, "op": op, **_key_cells(key), **_ab_numbers(group), "note": _ab_note(key[0], group, runs)}
        for key, group in grouped.items()
    ]


def _ab_numbers(group: Sequence[Line]) -> Line:
    counted = [line for line in group if line.get("ratio") is not None]
    ratios = [line["ratio"] for line in counted]
    marked = {side: {m for line in group for m in line.get(f"marker_{side}", ())} for side in "ab"}
    return {
        "rounds": len(counted),
        "latency_a_ms": median(line["latency_a_ms"] for line in counted) if counted else None,
        "latency_b_ms": median(line["latency_b_ms"] for line in counted) if counted else None,
        "ratio": median(ratios) if counted else None,
        "ratio_min": min(ratios, default=None),
        "ratio_max": max(ratios, default=None),
        "fallback": [f"{side}: {name}" for side in "ab" for name in sorted(marked[side])],
    }


def _ab_note(op: str, group: Sequence[Line], runs: Sequence[SideRun]) -> str:
    """The reasons that took rounds away, and whether the suite's columns mean something else here."""
    reasons = dict.fromkeys(line["note"] for line in group if line.get("note"))
    return "; ".join([*reasons, *_redefined_note(op, runs)])


def _redefined_note(op: str, runs: Sequence[SideRun]) -> list[str]:
    redefined = any(run.result and op in run.result.redefined for run in runs)
    return ["columns are not torch/gems"] if redefined else []


def one_sided_summary(op: str, runs: Sequence[SideRun]) -> list[Line]:
    """The lines of summary.csv of a campaign with one side: medians over the rounds, and the speedup."""
    read = [run.result for run in runs if run.result]
    grouped: dict[RowKey, list[Row]] = defaultdict(list)
    for result in read:
        for row in result.rows:
            grouped[row.key].append(row)
    facts = _facts(runs, ("backend", "device", "timer"))
    sizes = [Counter((row.op, row.dtype, row.mode, row.size) for row in result.rows) for result in read]
    return [
        {**facts, "op": op, **_key_cells(key), **_one_sided_numbers(key, rows, read, sizes, runs)}
        for key, rows in grouped.items()
    ]


def _one_sided_numbers(
    key: RowKey,
    rows: Sequence[Row],
    read: Sequence[RunResult],
    sizes: Sequence[Counter[Any]],
    runs: Sequence[SideRun],
) -> Line:
    usable = [row for row in rows if row.usable]
    notes = _redefined_note(key[0], runs)
    if len({count[key[:4]] for count in sizes}) > 1:
        usable = []
        notes.append("excluded: the rounds differ in how often they have this size")
    elif len(usable) < len(read):
        reasons = dict.fromkeys(row.error or "no latency" for row in rows if not row.usable)
        notes.append(f"measured in {len(usable)} of {len(read)} rounds: {'; '.join(reasons)}")
    markers = {name for result in read for name in result.row_markers.get(key, ())}
    return {
        "rounds": len(usable),
        "latency_torch_ms": _median(row.latency_base for row in usable),
        "latency_a_ms": _median(row.latency for row in usable),
        "speedup": _median(row.speedup for row in usable),
        "fallback": [f"a: {name}" for name in sorted(markers)],
        "note": "; ".join(notes),
    }


def _median(values: Iterator[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
