"""From timed launches to one number a superblock: the smallest thing in which drift cancels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from zlbench_core.errors import ReadError

ORDERS = ("ABBA", "BAAB")
TRIM = 5  # one in five launches is dropped at each end: a 20% trimmed mean


@dataclass(frozen=True)
class Superblock:
    """Four blocks of launches in the order in which they ran, in milliseconds. `void`: a block throttled."""

    order: str
    blocks: tuple[tuple[float, ...], ...]
    void: bool = False

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise ReadError(f"superblock order is {self.order!r}; one of {', '.join(ORDERS)} is expected")
        if len(self.blocks) != len(self.order):
            raise ReadError(
                f"superblock {self.order} has {len(self.blocks)} blocks; {len(self.order)} are expected"
            )


def block_centre(samples: Sequence[float], discard: int = 0) -> float | None:
    """The 20% trimmed mean of a block in milliseconds, without its first `discard` launches (the hand-over).

    A mean and not a median, because a median of clock ticks is a tick. None when nothing is left, or when any
    launch that counts is infinite, not a number, zero or negative: such a block has no measurement.
    """
    kept = sorted(samples[discard:])
    if not kept or not all(math.isfinite(value) and value > 0 for value in kept):
        return None
    cut = len(kept) // TRIM
    middle = kept[cut : len(kept) - cut]
    return math.fsum(middle) / len(middle)


def log_centres(superblock: Superblock, discard: int = 0) -> dict[str, tuple[float, float]] | None:
    """The logs of each side's two centres, or None: one bad block voids all four, never one side alone."""
    if superblock.void:
        return None
    logs: dict[str, list[float]] = {"A": [], "B": []}
    for side, block in zip(superblock.order, superblock.blocks, strict=True):
        centre = block_centre(block, discard)
        if centre is None:
            return None
        logs[side].append(math.log(centre))
    return {side: (values[0], values[1]) for side, values in logs.items()}


def superblock_log_ratio(superblock: Superblock, discard: int = 0) -> float | None:
    """z = (log x_B1 + log x_B2 - log x_A1 - log x_A2) / 2: a drift that is linear in time cancels exactly.

    None for a superblock without a measurement.
    """
    logs = log_centres(superblock, discard)
    if logs is None:
        return None
    return math.fsum([*logs["B"], *(-value for value in logs["A"])]) / 2
