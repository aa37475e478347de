"""Which rows of two runs may be compared.

A row is known by op, dtype, mode, size and its occurrence among equal sizes: the suite yields each BLAS shape
twice (once transposed) under one size text, so nothing may be paired by "the last one wins".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from zlbench_core.results.rows import SUCCESS, Row

PairKey = tuple[str, str, str | None, str]  # op, dtype, mode, size


class PairedRow(NamedTuple):
    """The same shape on both sides, both succeeded, with a positive latency (ms) where rows were timed at all."""

    a: Row
    b: Row

    @property
    def ratio(self) -> float:
        """Latency of b over latency of a: below 1, b is faster."""
        assert self.a.latency is not None
        assert self.b.latency is not None
        return self.b.latency / self.a.latency


@dataclass(frozen=True)
class Refusal:
    """Rows that both sides have and that still are not compared; `occurrence` None means all of the size."""

    op: str
    dtype: str
    mode: str | None
    size: str
    occurrence: int | None
    reason: str

    def __str__(self) -> str:
        which = "" if self.occurrence is None else f" #{self.occurrence}"
        return f"{self.op} {self.dtype} {self.mode or ''} {self.size}{which}: {self.reason}"


@dataclass(frozen=True)
class Pairing:
    """`only_a` and `only_b` hold the rows whose size the other side does not have at all."""

    paired: tuple[PairedRow, ...]
    only_a: tuple[Row, ...]
    only_b: tuple[Row, ...]
    refused: tuple[Refusal, ...]


def pair_rows(a: Sequence[Row], b: Sequence[Row], *, timed: bool = True) -> Pairing:
    """Pair the rows of two runs, in the order of `a`. Every row that is not paired is named.

    `timed` False: the runs only compiled, so no row is asked for a latency.
    """
    keyed_a, keyed_b = _by_key(a), _by_key(b)
    both = [key for key in keyed_a if key in keyed_b]
    reasons = {key: why for key in both if (why := _multiplicity(keyed_a[key], keyed_b[key]))}
    partners = {row.key: row for row in b}
    pairs = [
        PairedRow(row, partners[row.key]) for row in a if (key := _key(row)) in keyed_b and key not in reasons
    ]
    refused = [Refusal(*key, None, why) for key, why in reasons.items()]
    judged = [(pair, _unusable(pair, timed)) for pair in pairs]
    refused += [Refusal(*pair.a.key, why) for pair, why in judged if why]
    paired = tuple(pair for pair, why in judged if why is None)
    return Pairing(paired, _only(a, keyed_b), _only(b, keyed_a), tuple(refused))


def _key(row: Row) -> PairKey:
    return (row.op, row.dtype, row.mode, row.size)


def _by_key(rows: Sequence[Row]) -> dict[PairKey, list[Row]]:
    keyed: dict[PairKey, list[Row]] = defaultdict(list)
    for row in rows:
        keyed[_key(row)].append(row)
    return keyed


def _only(rows: Sequence[Row], other: dict[PairKey, list[Row]]) -> tuple[Row, ...]:
    return tuple(row for row in rows if _key(row) not in other)


def _multiplicity(a: list[Row], b: list[Row]) -> str | None:
    if len(a) != len(b):
        return f"a has {len(a)} rows of this size, b has {len(b)}"
    for side, rows in (("a", a), ("b", b)):
        if sorted(row.occurrence for row in rows) != list(range(len(rows))):
            return f"{side} does not number its {len(rows)} rows of this size from 0 without a gap"
    return None


def _unusable(pair: PairedRow, timed: bool) -> str | None:
    for side, row in (("a", pair.a), ("b", pair.b)):
        if row.status != SUCCESS:
            return f"{side} is {row.status}" + (f": {row.error}" if row.error else "")
        if timed and not row.usable:
            return f"{side} has no measured latency"
    return None
