"""From rows to an operator, round by round. The round is the unit of evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence

from zlbench_core.errors import ReadError
from zlbench_core.verdicts.model import RowKey, RowRounds

SMALLEST_SPAN = 3  # superblocks below which a round has no slope
ROW_SHARE = 0.75  # of the rounds of the best measured row, below which a row is left out


def round_span(superblocks: Sequence[float | None]) -> float | None:
    """How far log(B/A) moved over the round: the least squares slope of z_k times (K - 1)."""
    points = [(k, z) for k, z in enumerate(superblocks) if z is not None]
    if len(points) < SMALLEST_SPAN or 2 * len(points) < len(superblocks):
        return None
    centre = math.fsum(k for k, _ in points) / len(points)
    slope = math.fsum((k - centre) * z for k, z in points) / math.fsum((k - centre) ** 2 for k, _ in points)
    return slope * (len(superblocks) - 1)


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


def combine(series: Sequence[Sequence[float | None]]) -> tuple[float | None, ...]:
    """d_r, the mean of y_{s,r} over the rows s, for each round; None in a round that lacks any of the rows."""
    share = 1 / len(series)
    return tuple(
        None if None in column else math.fsum(share * y for y in column)
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
