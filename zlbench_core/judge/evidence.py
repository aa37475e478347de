"""From the runs of one operator to what is stored of it: the rounds of its rows, and every raw sample."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

from zlbench_core.errors import ReadError
from zlbench_core.judge.collect import Run, RunCalls, timed_calls
from zlbench_core.judge.judge import OperatorCase, PairedRound
from zlbench_core.records.superblock import ORDERS, superblock_log_ratio
from zlbench_core.results.samples import TimedCall
from zlbench_core.results.store import SampleLine
from zlbench_core.verdicts import Superblock
from zlbench_core.verdicts.rounds import round_span
from zlbench_core.verdicts.stored import RowRound, StoredRow

Calls = Mapping[str, RunCalls]  # by the run's label

LATENCY, BASELINE, OTHER = "latency", "baseline", "other"
_NO_ROW: tuple[None, ...] = (None,) * 5
_ENCODE = json.JSONEncoder(sort_keys=True).encode


def with_calls(case: OperatorCase, runs: Sequence[Run]) -> tuple[OperatorCase, dict[str, RunCalls]]:
    """The timed calls of an operator's runs. Samples that cannot be read refuse the operator, by name."""
    calls, refusals = {}, []
    for run in runs:
        try:
            calls[run.label] = timed_calls(run)
        except ReadError as error:
            calls[run.label] = RunCalls()
            refusals.append(f"samples: {run.label}: {error}")
    return replace(case, refusals=(*case.refusals, *refusals)), calls


def stored_rows(case: OperatorCase, calls: Calls) -> tuple[StoredRow, ...]:
    """The rows that both sides measured: log(B/A) by round, none where a side has no measurement."""
    rows, several = [], len({key[0] for key in case.pairs}) > 1
    for (name, dtype, mode, size, occurrence), paired in sorted(
        case.pairs.items(), key=lambda item: str(item[0])
    ):
        timed = [(pair, *_sides(pair, calls)) for pair in paired]
        by_round = {pair.round: _round(pair, a, b) for pair, a, b in timed}
        batch = min((1 if call is None else call.batch for _, *sides in timed for call in sides), default=1)
        rounds = tuple(by_round.get(number, RowRound()) for number in range(1, case.rounds + 1))
        # One test may hold several operators, whose rows would else be one and the same.
        said = f"{name} {mode or ''}".strip() if several else mode or ""
        rows.append(StoredRow(dtype, said, size, occurrence, batch, rounds))
    return tuple(rows)


def sample_lines(run: Run, calls: RunCalls) -> Iterator[SampleLine]:
    """The lines of samples.parquet of one run: each timed call, and beneath it each block of a duet."""
    rows = {row.key: row for row in run.result.rows}
    roles = {
        call.seq: (role, rows[key].key)
        for key, found in calls.by_row.items()
        for role, call in ((BASELINE, found.base), (LATENCY, found.measured))
        if call is not None
    }
    place = run.identity.get("order")
    run_head = (run.op, run.side, run.round, place if _is_below(2, place) else None)
    for call in calls.calls:
        role, key = roles.get(call.seq, (OTHER, _NO_ROW))
        call_head = (call.node, call.seq, call.timer, call.batch, call.flush_l2)
        head = (*run_head, *key, role, *call_head)
        blocks = [block_samples(call, block) for block in call.blocks]
        # Samples that lie in blocks are stored once: with their block.
        tiled = blocks and call.samples_ms == tuple(value for block in blocks for value in block or ())
        own = None if tiled else call.samples_ms
        yield (*head, call.value_ms, call.fallback, None, None, None, own, _extra(call.extra))
        yield from ((*head, None, call.fallback, *_block(call, number)) for number in range(len(blocks)))


def _round(pair: PairedRound, a: TimedCall | None, b: TimedCall | None) -> RowRound:
    a_ms, b_ms = pair.latencies
    return RowRound(math.log(b_ms / a_ms), _span(a, b), a_ms, b_ms, _first_side(pair))


def _first_side(pair: PairedRound) -> str | None:
    """The side whose process was launched first; None where the identities do not tell one from the other."""
    places = (pair.a_run.identity.get("order"), pair.b_run.identity.get("order"))
    return "a" if places == (0, 1) else "b" if places == (1, 0) else None


def _sides(pair: PairedRound, calls: Calls) -> tuple[TimedCall | None, TimedCall | None]:
    known = [(pair.a_run, pair.a), (pair.b_run, pair.b)]
    a, b = (calls[run.label].of(row.key) if run.label in calls else None for run, row in known)
    return a, b


def _span(a: TimedCall | None, b: TimedCall | None) -> float | None:
    """How far log(B/A) moved over the superblocks of a duet; None where there are none, or too few."""
    if a is None or b is None or not (a.blocks and b.blocks):
        return None
    found: dict[int, dict[int, tuple[str, tuple[float, ...]]]] = {}
    for side, call in (("A", a), ("B", b)):
        for block in call.blocks:
            if _is_below(len(call.blocks), block.get("superblock")) and _is_int(block.get("place")):
                samples = block_samples(call, block) or ()
                found.setdefault(block["superblock"], {})[block["place"]] = (side, samples)
    numbers = range(max(found, default=-1) + 1)
    return round_span([_log_ratio(found.get(n, {}), _is_void(a, n) or _is_void(b, n)) for n in numbers])


def _log_ratio(blocks: Mapping[int, tuple[str, tuple[float, ...]]], void: bool) -> float | None:
    """z of a superblock from its four blocks by place; None where one is missing or was disturbed."""
    order = "".join(blocks[place][0] for place in sorted(blocks))
    if void or sorted(blocks) != [0, 1, 2, 3] or order not in ORDERS:
        return None
    return superblock_log_ratio(Superblock(order, tuple(blocks[place][1] for place in range(4))))


def _is_void(call: TimedCall, number: int) -> bool:
    void = call.extra.get("void")
    return isinstance(void, list) and number < len(void) and void[number] is not None


def block_samples(call: TimedCall, block: Mapping[str, Any]) -> tuple[float, ...] | None:
    """A block's samples are `count` of its call's, from `first` on; None for a block of another form."""
    first, count = block.get("first"), block.get("count")
    if not _is_int(first) or not _is_int(count) or not 0 <= first <= first + count <= len(call.samples_ms):
        return None
    return call.samples_ms[first : first + count]


def _block(call: TimedCall, number: int) -> tuple[Any, ...]:
    """The last columns of a block of a duet. What has none, or is of another form than its own, stays in `extra`."""
    block = call.blocks[number]
    rest = dict(block)
    superblock = rest.pop("superblock") if _is_below(len(call.blocks), rest.get("superblock")) else None
    place = rest.pop("place") if _is_below(len(ORDERS[0]), rest.get("place")) else number
    order = None if superblock is None else _order(call, superblock)
    return (superblock, order, place, block_samples(call, block), _extra(rest))


def _order(call: TimedCall, superblock: int) -> str | None:
    orders = call.extra.get("order")
    told = orders[superblock] if isinstance(orders, list) and superblock < len(orders) else None
    return told if told in ORDERS else None


def _is_below(limit: int, value: Any) -> TypeGuard[int]:
    """Whether `value` is a number from 0; a call has more blocks than superblocks."""
    return _is_int(value) and 0 <= value < limit


def _is_int(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _extra(rest: Mapping[str, Any]) -> str | None:
    return _ENCODE(rest) if rest else None
