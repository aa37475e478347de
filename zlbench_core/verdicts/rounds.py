"""From superblocks to rounds: y of a row, d of an operator. The round is the unit of evidence."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from zlbench_core.errors import ConfigError, ReadError
from zlbench_core.records.superblock import Superblock, log_centres, superblock_log_ratio
from zlbench_core.verdicts.model import RowKey, RowRounds

SMALLEST_SPAN = 3  # superblocks below which a round has no slope
ROW_SHARE = 0.75  # of the rounds of the best measured row, below which a row is left out


def round_log_ratio(superblocks: Sequence[float | None]) -> float | None:
    """y_{s,r}: the mean of the round's z_k. None when fewer than half of the superblocks were measured."""
    valid = [z for z in superblocks if z is not None]
    if not valid or 2 * len(valid) < len(superblocks):
        return None
    return math.fsum(valid) / len(valid)


def round_span(superblocks: Sequence[float | None]) -> float | None:
    """How far log(B/A) moved over the round: the least squares slope of z_k times (K - 1)."""
    points = [(k, z) for k, z in enumerate(superblocks) if z is not None]
    if len(points) < SMALLEST_SPAN or 2 * len(points) < len(superblocks):
        return None
    centre = math.fsum(k for k, _ in points) / len(points)
    slope = math.fsum((k - centre) * z for k, z in points) / math.fsum((k - centre) ** 2 for k, _ in points)
    return slope * (len(superblocks) - 1)


def row_rounds(
    op: str, key: RowKey, rounds: Sequence[Sequence[Superblock] | None], *, discard: int = 0, batch: int = 1
) -> RowRounds:
    """Build a row from its raw blocks. `rounds` has one entry a round that was run; None or empty: row lost.

    `discard`: launches dropped at the head of every block, the same on both sides. The latencies are medians
    over the rounds that count, in milliseconds.
    """
    z = [[superblock_log_ratio(block, discard) for block in blocks or ()] for blocks in rounds]
    y = tuple(round_log_ratio(values) for values in z)
    times = [
        _round_latencies(blocks, discard)
        for blocks, value in zip(rounds, y, strict=True)
        if blocks is not None and value is not None
    ]
    t_a_ms, t_b_ms = (statistics.median(side) for side in zip(*times, strict=True)) if times else (None, None)
    spans = tuple(round_span(values) for values in z)
    return RowRounds(op, *key, y, t_a_ms, t_b_ms, batch, spans)


def included_rows(rows: Sequence[RowRounds]) -> tuple[tuple[RowRounds, ...], tuple[str, ...]]:
    """The rows that speak for the operator, and a sentence for each row that does not.

    A row measured in fewer than three quarters of the rounds of the best measured row is left out by name. A
    round then counts for the operator only when every row that is left was measured in it, so that all
    rounds compare the same set of rows. Raises ReadError when rows disagree on the number of rounds, or when
    one row comes twice.
    """
    _check_rows(rows)
    best = max((row.counted for row in rows), default=0)
    kept = tuple(row for row in rows if row.counted and row.counted >= ROW_SHARE * best)
    left_out = tuple(
        f"{row.label}: measured on both sides in {row.counted} of {len(row.log_ratios)} rounds"
        for row in rows
        if row not in kept
    )
    return kept, left_out


def row_weights(rows: Sequence[RowRounds], declared: Mapping[RowKey, float] | None) -> tuple[float, ...]:
    """w_s, adding up to 1: equal unless declared. Raises ConfigError for a row without a valid weight."""
    if declared is None:
        return (1 / len(rows),) * len(rows)
    for row in rows:
        weight = declared.get(row.key)
        if weight is None or not math.isfinite(weight) or weight <= 0:
            raise ConfigError(f"weight of {row.label} is {weight}; every row needs a number above 0")
    total = math.fsum(declared[row.key] for row in rows)
    return tuple(declared[row.key] / total for row in rows)


def combine(series: Sequence[Sequence[float | None]], weights: Sequence[float]) -> tuple[float | None, ...]:
    """d_r = sum_s w_s y_{s,r} for each round, None in a round that lacks any of the rows."""
    return tuple(
        None if None in column else math.fsum(w * y for w, y in zip(weights, column, strict=True))
        for column in zip(*series, strict=True)
    )


def common_firsts(rows: Sequence[RowRounds]) -> tuple[str | None, ...]:
    """The side that was launched first in each round, where the rows agree on it: they share their processes."""
    told = [{row.firsts[number] for row in rows if row.firsts} for number in range(len(rows[0].log_ratios))]
    return tuple(next(iter(sides)) if len(sides) == 1 else None for sides in told)


def _check_rows(rows: Sequence[RowRounds]) -> None:
    seen: set[RowKey] = set()
    for row in rows:
        if len(row.log_ratios) != len(rows[0].log_ratios):
            expected = len(rows[0].log_ratios)
            raise ReadError(f"{row.label}: {len(row.log_ratios)} rounds, but {expected} are expected")
        if row.key in seen:
            raise ReadError(f"{row.label}: the row comes twice")
        seen.add(row.key)


def _round_latencies(blocks: Sequence[Superblock], discard: int) -> tuple[float, float]:
    logs = [pair for block in blocks if (pair := log_centres(block, discard)) is not None]
    a_ms, b_ms = (
        math.exp(math.fsum(value for pair in logs for value in pair[side]) / (2 * len(logs))) for side in "AB"
    )
    return a_ms, b_ms
