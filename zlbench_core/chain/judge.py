"""One operator of an A/B campaign: may its sides be compared, and if so, which rows?"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from zlbench_core.caliber import caliber_complaints, caliber_hazards, missing_fields, undeclared_differences
from zlbench_core.chain.collect import Run
from zlbench_core.chain.guards import changing_sides, foreign_runs, gate_refusals, repeated_runs
from zlbench_core.chain.status import status_of
from zlbench_core.results.fallbacks import exclusion
from zlbench_core.results.pairing import Pairing, pair_rows
from zlbench_core.results.rows import Row, RowKey
from zlbench_core.results.status import OK
from zlbench_core.verdicts import RowRounds


@dataclass(frozen=True)
class PairedRound:
    """One row of one round on both sides; latencies in milliseconds."""

    round: int
    a: Row
    b: Row
    a_run: Run
    b_run: Run


@dataclass(frozen=True)
class OperatorCase:
    """What is known of one operator before it is judged.

    `refusals` end it without a number. `exclusions` name rows that are left out.
    """

    op: str
    refusals: tuple[str, ...] = ()
    exclusions: tuple[str, ...] = ()
    hazards: tuple[str, ...] = ()
    pairs: dict[RowKey, list[PairedRound]] = field(default_factory=dict)
    rounds: int = 0


def build_case(
    op: str,
    runs: Sequence[Run],
    gate: dict[str, Any] | None,
    declared_axis: Sequence[str],
    measured: bool = True,
    plan: str | None = None,
) -> OperatorCase:
    """Apply every guard to the runs of one operator, all rounds and both sides at once."""
    failed = _failed(runs, measured)
    if failed:
        # What a failed run did not get to record is no second mistake.
        return OperatorCase(op, tuple(failed), rounds=len({run.round for run in runs}))
    refusals = [*_untrusted(runs), *gate_refusals(gate, op), *foreign_runs(runs, plan), *repeated_runs(runs)]
    trusted = [(run.label, run.folder) for run in runs if run.problem is None]
    refusals += caliber_complaints(trusted)
    refusals += missing_fields(trusted)
    refusals += undeclared_differences(trusted, declared_axis)
    refusals += changing_sides([run for run in runs if run.problem is None], ("a", "b"))
    refusals += _undeclared_axis(runs, declared_axis)
    pairs, exclusions = _pair(runs)
    return OperatorCase(
        op,
        tuple(dict.fromkeys(refusals)),
        tuple(exclusions),
        tuple(caliber_hazards(trusted)),
        pairs,
        rounds=len({run.round for run in runs}),
    )


def to_rounds(case: OperatorCase) -> list[RowRounds]:
    """The rows in the form that verdicts judge: log(B/A) by round, None where a side has no measurement."""
    rows = []
    for (_, dtype, mode, size, occurrence), paired in sorted(case.pairs.items(), key=lambda item: str(item[0])):
        by_round = {pair.round: math.log(pair.b.latency / pair.a.latency) for pair in paired}
        rows.append(
            RowRounds(
                op=case.op,
                dtype=dtype,
                mode=mode or "",
                size=size,
                occurrence=occurrence,
                log_ratios=tuple(by_round.get(number) for number in range(1, case.rounds + 1)),
                t_a_ms=statistics.median(pair.a.latency for pair in paired),
                t_b_ms=statistics.median(pair.b.latency for pair in paired),
            )
        )
    return rows


def _failed(runs: Sequence[Run], measured: bool) -> list[str]:
    found = [(run, status_of(run, measured)) for run in runs if run.problem is None]
    return [
        f"status: {run.label} {status.status}: {status.reason}"
        for run, status in found
        if status.status != OK
    ]


def _untrusted(runs: Sequence[Run]) -> list[str]:
    return [f"run_identity: {run.label}: {run.problem}" for run in runs if run.problem]


def _undeclared_axis(runs: Sequence[Run], declared_axis: Sequence[str]) -> list[str]:
    stale = [
        run.label
        for run in runs
        if run.problem is None and run.identity.get("declared") != list(declared_axis)
    ]
    return (
        [f"declared: {', '.join(stale)} ran for another pair of sides than this campaign's"] if stale else []
    )


def _pair(runs: Sequence[Run]) -> tuple[dict[RowKey, list[PairedRound]], list[str]]:
    pairs: dict[RowKey, list[PairedRound]] = {}
    exclusions: list[str] = []
    for number in sorted({run.round for run in runs}):
        sides = {run.side: run for run in runs if run.round == number}
        if set(sides) != {"a", "b"}:
            exclusions.append(f"round {number}: only side {', '.join(sides)} is there")
            continue
        a, b = sides["a"], sides["b"]
        found = pair_rows(list(a.result.rows), list(b.result.rows))
        exclusions += [f"round {number}: {reason}" for reason in _unpaired(found)]
        for row_a, row_b in found.paired:
            reason = exclusion(
                a.result.row_markers.get(row_a.key, ()), b.result.row_markers.get(row_b.key, ())
            )
            if reason:
                exclusions.append(f"round {number}: {row_a.dtype} {row_a.size}: {reason}")
                continue
            pairs.setdefault(row_a.key, []).append(PairedRound(number, row_a, row_b, a, b))
    return pairs, exclusions


def _unpaired(found: Pairing) -> list[str]:
    reasons = [f"{row.dtype} {row.size}: only on side a" for row in found.only_a]
    reasons += [f"{row.dtype} {row.size}: only on side b" for row in found.only_b]
    return reasons + list(map(str, found.refused))
