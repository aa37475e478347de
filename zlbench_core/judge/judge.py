"""One operator of an A/B campaign: may its sides be compared, and if so, which rows?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from zlbench_core.caliber import guard
from zlbench_core.caliber.guard import incomparable
from zlbench_core.judge.collect import Run
from zlbench_core.judge.guards import (
    changing_sides,
    foreign_runs,
    gate_refusals,
    repeated_runs,
    unapplied,
    unfinished,
    untrusted,
)
from zlbench_core.judge.status import status_of
from zlbench_core.results.fallbacks import exclusion
from zlbench_core.results.pairing import Pairing, pair_rows
from zlbench_core.results.rows import Row, RowKey
from zlbench_core.results.status import OK, lost_rows


@dataclass(frozen=True)
class PairedRound:
    """One row of one round on both sides; latencies in milliseconds."""

    round: int
    a: Row
    b: Row
    a_run: Run
    b_run: Run

    @property
    def latencies(self) -> tuple[float, float]:
        a_ms, b_ms = self.a.latency, self.b.latency
        assert a_ms is not None, "only rows with a latency on both sides are paired"
        assert b_ms is not None, "only rows with a latency on both sides are paired"
        return a_ms, b_ms

    @property
    def ratio(self) -> float:
        a_ms, b_ms = self.latencies
        return b_ms / a_ms


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
    labelled = [(run.label, run) for run in runs]
    failed = unfinished(labelled, measured)
    if any(run.problem is None and run.identity.get("status") == "failed" for run in runs):
        # What a failed run did not get to record is no second mistake.
        return OperatorCase(op, tuple(failed), rounds=len({run.round for run in runs}))
    refusals = [*untrusted(labelled), *failed, *gate_refusals(gate, op)]
    refusals += [*foreign_runs(runs, plan), *repeated_runs(runs)]
    trusted = [(run.label, run.recorded) for run in runs if run.problem is None]
    refusals += incomparable(trusted, declared_axis)
    refusals += changing_sides([run for run in runs if run.problem is None], ("a", "b"))
    refusals += _undeclared_axis(runs, declared_axis) + unapplied(runs)
    pairs, exclusions = _pair(runs, measured)
    return OperatorCase(
        op,
        tuple(dict.fromkeys(refusals)),
        tuple(exclusions),
        tuple(guard.hazards(trusted)),
        pairs,
        rounds=len({run.round for run in runs}),
    )


def one_sided_case(
    op: str, runs: Sequence[Run], declared_axis: Sequence[str], plan: str | None = None
) -> OperatorCase:
    """The guards that one side alone must pass: its rounds are this campaign's, and stand on one caliber.

    A round that failed is a status and leaves its rows out; the others are held against each other all the same.
    """
    good = [run for run in runs if run.problem is None and status_of(run).status == OK]
    known = [(run.label, run.recorded) for run in good]
    refusals = untrusted([(run.label, run) for run in runs])
    refusals += [*foreign_runs(good, plan), *repeated_runs(good)]
    refusals += incomparable(known, []) + changing_sides(good, sorted({run.side for run in good}))
    refusals += _undeclared_axis(good, declared_axis)
    hazards = tuple(guard.hazards(known))
    return OperatorCase(
        op, tuple(dict.fromkeys(refusals)), hazards=hazards, rounds=len({run.round for run in runs})
    )


def _undeclared_axis(runs: Sequence[Run], declared_axis: Sequence[str]) -> list[str]:
    stale = [
        run.label
        for run in runs
        if run.problem is None and run.identity.get("declared") != list(declared_axis)
    ]
    return (
        [f"declared: {', '.join(stale)} ran for another pair of sides than this campaign's"] if stale else []
    )


def _pair(runs: Sequence[Run], measured: bool) -> tuple[dict[RowKey, list[PairedRound]], list[str]]:
    """Pairs hold latencies, so there are none where nothing was measured."""
    pairs: dict[RowKey, list[PairedRound]] = {}
    exclusions: list[str] = []
    for number in sorted({run.round for run in runs}):
        sides = {run.side: run for run in runs if run.round == number}
        if set(sides) != {"a", "b"}:
            exclusions.append(f"round {number}: only side {', '.join(sides)} is there")
            continue
        a, b = sides["a"], sides["b"]
        exclusions += [f"round {number}: {line}" for line in _lost(a, b)]
        found = pair_rows(list(a.result.rows), list(b.result.rows), timed=measured)
        exclusions += [f"round {number}: {reason}" for reason in _unpaired(found)]
        for row_a, row_b in found.paired if measured else ():
            reason = exclusion(
                a.result.row_markers.get(row_a.key, ()), b.result.row_markers.get(row_b.key, ())
            )
            if reason:
                exclusions.append(f"round {number}: {row_a.dtype} {row_a.size}: {reason}")
                continue
            pairs.setdefault(row_a.key, []).append(PairedRound(number, row_a, row_b, a, b))
    return pairs, exclusions


def _lost(a: Run, b: Run) -> list[str]:
    """Why a duet lost rows, each once: both sides tell of a row that both came to."""
    return list(dict.fromkeys([*lost_rows(a.identity), *lost_rows(b.identity)]))


def _unpaired(found: Pairing) -> list[str]:
    reasons = [f"{row.dtype} {row.size}: only on side a" for row in found.only_a]
    reasons += [f"{row.dtype} {row.size}: only on side b" for row in found.only_b]
    return reasons + list(map(str, found.refused))
