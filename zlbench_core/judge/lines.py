"""The lines of the tables, from runs and cases."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from zlbench_core.campaign.model import Campaign
from zlbench_core.judge.collect import Run
from zlbench_core.judge.judge import OperatorCase, PairedRound
from zlbench_core.judge.status import status_of
from zlbench_core.results.columns import Line
from zlbench_core.results.rows import Row, RowKey
from zlbench_core.results.status import STATUSES
from zlbench_core.results.tables import AB, STATUS, SUMMARY
from zlbench_core.verdicts.stored import RELEASED

MAX_NOTES = 10
_WORST_FIRST = {status: place for place, status in enumerate(reversed(STATUSES))}


def status_lines(campaign: Campaign, runs: Sequence[Run]) -> Iterator[Line]:
    """ops_status.csv: one line per side, with the worst status of its rounds."""
    for side in campaign.subject.side_names:
        mine = [run for run in runs if run.side == side]
        if not mine:
            continue
        found = [status_of(run, campaign.timing.measure) for run in mine]
        worst = min(found, key=lambda status: _WORST_FIRST[status.status])
        run = mine[found.index(worst)]
        markers: Counter[str] = Counter()
        for one in mine:
            markers.update(one.result.markers)
        yield STATUS.line(
            {
                "backend": campaign.subject.backend,
                "device": run.identity.get("device"),
                "gpu": run.identity.get("device_uuid"),
                "timer": run.identity.get("timer"),
                "op": run.op,
                "side": side,
                "status": worst.status,
                "reason": worst.reason,
                "pytest_exit": run.identity.get("pytest_exit"),
                "rows": len(run.result.rows),
                "partial_dtypes": run.result.partial_dtypes,
                "markers": dict(markers),
                "rounds": len(mine),
                "notes": list(dict.fromkeys(note for one in mine for note in one.result.notes))[:MAX_NOTES],
            }
        )


def ab_lines(case: OperatorCase) -> Iterator[Line]:
    """ab.csv: one line per row and round of an operator whose numbers may be shown."""
    for paired in case.pairs.values():
        for pair in paired:
            yield AB.line(
                {
                    "op": case.op,
                    "fg_op_name": pair.a.op,
                    "dtype": pair.a.dtype,
                    "mode": pair.a.mode,
                    "size": pair.a.size,
                    "occurrence": pair.a.occurrence,
                    "round": pair.round,
                    "order": "ab" if pair.a_run.identity.get("order") == 0 else "ba",
                    "latency_a_ms": pair.a.latency,
                    "latency_b_ms": pair.b.latency,
                    "ratio": pair.ratio,
                    "marker_a": _markers(pair.a_run, pair.a),
                    "marker_b": _markers(pair.b_run, pair.b),
                    "note": _released(case),
                }
            )


def summary_lines(campaign: Campaign, case: OperatorCase, runs: Sequence[Run]) -> Iterator[Line]:
    """summary.csv: one line per row of an operator: median latencies, and the ratio that its verdict judges."""
    if campaign.subject.is_ab:
        yield from (_pair_line(campaign, case, pairs) for pairs in case.pairs.values())
    else:
        yield from _side_lines(campaign, case, runs)


def _pair_line(campaign: Campaign, case: OperatorCase, pairs: Sequence[PairedRound]) -> Line:
    ratios = [pair.ratio for pair in pairs]
    first = pairs[0]
    fallbacks = {_markers(pair.a_run, pair.a) for pair in pairs} | {
        _markers(pair.b_run, pair.b) for pair in pairs
    }
    return SUMMARY.line(
        {
            **_row_head(campaign, case.op, first.a_run, first.a),
            "rounds": len(pairs),
            "latency_torch_ms": None,
            "latency_a_ms": statistics.median(pair.latencies[0] for pair in pairs),
            "speedup": None,
            "latency_b_ms": statistics.median(pair.latencies[1] for pair in pairs),
            "ratio": math.exp(statistics.fmean(map(math.log, ratios))),
            "ratio_min": min(ratios),
            "ratio_max": max(ratios),
            "fallback": " ".join(sorted(filter(None, fallbacks))),
            "note": "; ".join(
                filter(None, (_released(case), *_notes(first.a_run, first.a, len(pairs), case.rounds)))
            ),
        }
    )


def _side_lines(campaign: Campaign, case: OperatorCase, runs: Sequence[Run]) -> Iterator[Line]:
    rows: dict[RowKey, list[tuple[Run, Row]]] = {}
    for run in runs:
        for row in run.result.rows if run.problem is None else ():
            rows.setdefault(row.key, []).append((run, row))
    for found in rows.values():
        run, row = found[0]
        usable = [row for _, row in found if row.usable]
        yield SUMMARY.line(
            {
                **_row_head(campaign, run.op, run, row),
                "rounds": len(usable),
                "latency_torch_ms": _median([row.latency_base for row in usable]),
                "latency_a_ms": _median([row.latency for row in usable]),
                "speedup": _median([row.speedup for row in usable]),
                **dict.fromkeys(("latency_b_ms", "ratio", "ratio_min", "ratio_max")),
                "fallback": _markers(run, row),
                "note": "; ".join(filter(None, (_released(case), *_notes(run, row, len(usable), len(runs))))),
            }
        )


def _notes(run: Run, row: Row, measured: int, rounds: int) -> list[str]:
    notes = [f"measured in {measured} of {rounds} rounds"] if measured < rounds else []
    return notes + (
        ["the suite's columns are not torch against the operator"] if row.op in run.result.redefined else []
    )


def _row_head(campaign: Campaign, op: str, run: Run, row: Row) -> dict[str, Any]:
    return {
        "backend": campaign.subject.backend,
        "device": run.identity.get("device"),
        "timer": run.identity.get("timer"),
        "fg_op_name": row.op,
        "op": op,
        "dtype": row.dtype,
        "mode": row.mode,
        "size": row.size,
        "occurrence": row.occurrence,
    }


def _markers(run: Run, row: Row) -> str:
    return " ".join(run.result.row_markers.get(row.key, ()))


def _released(case: OperatorCase) -> str:
    return f"{RELEASED}: " + "; ".join(case.refusals) if case.refusals else ""


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None
