"""The verdict of one operator from the rounds of its rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zlbench_core.campaign.looks import Looks, plan_looks
from zlbench_core.errors import ConfigError, ReadError
from zlbench_core.verdicts.evidence import gather
from zlbench_core.verdicts.interval import delta_of, resolution
from zlbench_core.verdicts.judge import judge
from zlbench_core.verdicts.maxt import max_t_p
from zlbench_core.verdicts.model import Evidence, OperatorVerdict, RowRounds, RowVerdict
from zlbench_core.verdicts.rounds import combine, common_firsts, included_rows
from zlbench_core.verdicts.signflip import sign_flip_p
from zlbench_core.verdicts.stopping import further_rounds
from zlbench_core.verdicts.words import Verdict

IR_STATES = ("identical", "different")


def decide_operator(
    op: str,
    rows: Sequence[RowRounds],
    *,
    alpha: float = 0.05,
    delta: float | None = None,
    ir: str | None,
    refusals: Sequence[str],
    looks: Looks | None = None,
    seed: int = 0,
) -> OperatorVerdict:
    """Judge one operator; ratios are B/A latency, FASTER means that B is faster.

    `ir`: what the IR gate found, None where it did not run. Any refusal ends it: REFUSED, without a number.
    Identical code is NO CODE CHANGE; rows given all the same are placebo data, and `next_rounds` then says
    what a placebo lacks to be usable. `looks` defaults to 6 rounds, then 12; rounds beyond the last look are
    not used. `delta`: a declared share that can only raise the margin. `seed` matters above 20 rounds only.
    Raises ConfigError for a value that is not allowed, ReadError for rows that do not fit together.
    """
    looks = plan_looks(alpha) if looks is None else looks
    _check(op, rows, alpha, ir, looks)
    if refusals:
        return OperatorVerdict(op, Verdict.REFUSED, reasons=tuple(refusals))
    if ir == "identical":
        return _no_code_change(op, _measured(op, rows, delta, looks, seed) if rows else None, looks)
    return _measured(op, rows, delta, looks, seed)


def _check(op: str, rows: Sequence[RowRounds], alpha: float, ir: str | None, looks: Looks) -> None:
    if ir is not None and ir not in IR_STATES:
        raise ConfigError(f"{op}: ir is {ir!r}; one of {', '.join(IR_STATES)} or None is expected")
    if looks.alpha != alpha:
        raise ConfigError(f"{op}: alpha is {alpha}, but the looks were planned for {looks.alpha}")
    for row in rows:
        if row.op != op:
            raise ReadError(f"{row.label}: a row of another operator than {op}")


def _no_code_change(op: str, placebo: OperatorVerdict | None, looks: Looks) -> OperatorVerdict:
    lacking = 0
    if placebo is not None and placebo.evidence is not None:
        lacking = max(0, looks.at_least - placebo.evidence.rounds_run)
    return OperatorVerdict(op, Verdict.NO_CODE_CHANGE, next_rounds=lacking, placebo=placebo)


def _measured(
    op: str,
    rows: Sequence[RowRounds],
    delta: float | None,
    looks: Looks,
    seed: int,
) -> OperatorVerdict:
    rows = [row.first_rounds(looks.last) for row in rows]
    kept, excluded = included_rows(rows)
    if not kept:
        run = len(rows[0].log_ratios) if rows else 0
        detail = f"no row was measured on both sides in {run} rounds"
        further = 0 if run else looks.at_least
        return OperatorVerdict(op, Verdict.UNDECIDED, detail, next_rounds=further, excluded=excluded)
    evidence = _operator_evidence(kept, delta, looks, seed)
    judgement = judge(evidence, evidence.p)
    return OperatorVerdict(
        op,
        judgement.verdict,
        judgement.detail,
        rounds_needed=judgement.rounds_needed,
        next_rounds=further_rounds(evidence),
        adjusted_p=evidence.p,
        evidence=evidence,
        rows=_row_verdicts(kept, delta, looks, seed),
        excluded=excluded,
    )


def _operator_evidence(rows: Sequence[RowRounds], delta: float | None, looks: Looks, seed: int) -> Evidence:
    with_spans = [row for row in rows if row.spans]
    return gather(
        combine([row.log_ratios for row in rows]),
        # A drift is the operator's only where all of its rows could show it.
        combine([row.spans for row in rows]) if len(with_spans) == len(rows) else (),
        common_firsts(rows),
        delta=delta_of([_resolution(row) for row in rows], delta),
        looks=looks,
        test=lambda values: sign_flip_p(values, seed=seed),
    )


def _row_verdicts(
    rows: Sequence[RowRounds], delta: float | None, looks: Looks, seed: int
) -> tuple[RowVerdict, ...]:
    table = np.array([row.log_ratios for row in rows], dtype=np.float64)  # None becomes nan
    # The scale of T is a standard error, so the clock's step is too: one step over sqrt(n).
    steps = np.array([_resolution(row) / np.sqrt(row.counted) for row in rows])
    return tuple(
        _row_verdict(row, p, delta, looks)
        for row, p in zip(rows, max_t_p(table, steps, seed=seed), strict=True)
    )


def _row_verdict(row: RowRounds, p_rounds: float, delta: float | None, looks: Looks) -> RowVerdict:
    evidence = gather(
        row.log_ratios,
        row.spans,
        row.firsts,
        delta=delta_of([_resolution(row)], delta),
        looks=looks,
        test=lambda _: p_rounds,
    )
    judgement = judge(evidence, evidence.p)
    return RowVerdict(row, judgement.verdict, judgement.detail, judgement.rounds_needed, evidence, evidence.p)


def _resolution(row: RowRounds) -> float:
    assert row.t_a_ms is not None, "a row that counts has latencies"
    assert row.t_b_ms is not None, "a row that counts has latencies"
    return resolution(row.t_a_ms, row.t_b_ms, row.batch)
