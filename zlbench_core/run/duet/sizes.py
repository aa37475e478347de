"""How much is launched: decided once per row, for both sides alike, from the slower side's estimate."""

from __future__ import annotations

import math
from dataclasses import dataclass

from zlbench_core.campaign.parts import Duet
from zlbench_core.records.messages import DIRECT

# On an H200 an event-timed single launch below about 20 us is noise (docs/verdicts.md, Why).
SHORT_MS = 0.020
# What one sample of short launches should last: a clock step of 32 ns is then 0.01% of it.
SAMPLE_MS = 0.25
MAX_LAUNCHES = 1000
MIN_SAMPLES, MAX_SAMPLES = 3, 200
# A row is not worth more: 12 superblocks of a 50 ms kernel would last 17 s. Few superblocks are kept all the same.
ROW_BUDGET_MS = 4000.0
FEWEST_SUPERBLOCKS = 4


@dataclass(frozen=True)
class Block:
    """`count` samples that are kept, after `discard` that are not."""

    discard: int
    count: int


def launches_per_sample(way: str, estimate_ms: float) -> int:
    """Launches in one graph, or in one batch of direct launches; 1 where a launch is long enough by itself."""
    if way == DIRECT and estimate_ms >= SHORT_MS:
        return 1
    if estimate_ms <= 0:
        return MAX_LAUNCHES
    return min(MAX_LAUNCHES, max(1, math.ceil(SAMPLE_MS / estimate_ms)))


def enlarged(launches: int, sample_ms: float) -> int:
    """Launches of a graph that was captured with `launches` by an estimate that held the host's time: on an H200 a
    tuner's launch of a 4 us kernel took 0.3 ms, and graphs of one such launch made A/A rows spread by 18%. The graph's
    own start counts where it holds few launches, so a second graph may be short again: 11 launches of 1.6 us spread by
    10%."""
    if sample_ms <= 0:
        return MAX_LAUNCHES
    return (
        launches
        if sample_ms > SAMPLE_MS / 2
        else min(MAX_LAUNCHES, math.ceil(launches * SAMPLE_MS / sample_ms))
    )


def block_of(settings: Duet, sample_ms: float) -> Block:
    """The block that lasts `block_ms` where a sample takes `sample_ms`."""
    fitting = round(settings.block_ms / sample_ms) if sample_ms > 0 else MAX_SAMPLES
    return Block(settings.discard, min(MAX_SAMPLES, max(MIN_SAMPLES, fitting)))


def superblocks_of(settings: Duet, block: Block, sample_ms: float) -> int:
    """Those that were asked for, or fewer where launches are so long that they would cost more than the budget."""
    superblock_ms = 4 * (block.discard + block.count) * sample_ms
    if superblock_ms <= 0:
        return settings.superblocks
    return min(settings.superblocks, max(FEWEST_SUPERBLOCKS, int(ROW_BUDGET_MS / superblock_ms)))
