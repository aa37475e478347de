"""A GPU that is not there: latencies with a known truth, in three kinds of noise (docs/measurement.md,
Simulation).

All of it is assumed, none of it was measured: a 50 us kernel on a clock of 32 ns steps, correlated launches
with a 1% tail, runs that differ, a clock that drifts over the whole experiment, and runs that are 3% fast.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

TICK_MS = 32e-6
KERNEL_MS = 0.05
LAUNCH_SD, LAUNCH_AR = 0.01, 0.5
TAIL_SHARE, TAIL_BY = 0.01, 0.2
FAST_BY = 0.03
LAUNCHES = 20


@dataclass(frozen=True)
class Noise:
    """`run_sd`: log latency from run to run; `drift`: over the experiment; `fast`: share of runs 3% fast."""

    name: str
    run_sd: float
    drift: float
    fast: float


NOISES = (
    Noise("quiet", 0.0005, 0.0, 0.0),
    Noise("typical", 0.002, 0.005, 0.0),
    Noise("thermal", 0.003, 0.02, 0.05),
)


def launches(log_ms: np.ndarray, rng: np.random.Generator, count: int = LAUNCHES) -> np.ndarray:
    """`count` timed launches around each log latency (a new last axis), in milliseconds, in whole ticks."""
    white = rng.standard_normal((*log_ms.shape, count), dtype=np.float32)
    noise = LAUNCH_SD * np.sqrt(1 - LAUNCH_AR**2) * lfilter([1.0], [1.0, -LAUNCH_AR], white, axis=-1)
    tail = TAIL_BY * (rng.random(white.shape, dtype=np.float32) < TAIL_SHARE)
    return np.round(np.exp(log_ms[..., None] + noise + tail) / TICK_MS) * TICK_MS


def run_offsets(noise: Noise, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """What makes one run (or one state of the device) differ from the next, as a log."""
    fast = np.log(1 - FAST_BY) * (rng.random(shape) < noise.fast)
    return noise.run_sd * rng.standard_normal(shape) + fast


def sequential(noise: Noise, effect: float, runs: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """All runs of A, then all runs of B, as most tools do: (2, runs, count) latencies in milliseconds."""
    clock = noise.drift * np.arange(2 * runs) / max(1, 2 * runs - 1)
    level = (np.log(KERNEL_MS) + clock + run_offsets(noise, (2 * runs,), rng)).reshape(2, runs)
    level[1] += np.log1p(effect)
    return launches(level, rng, count)


def duet(noise: Noise, effect: float, shape: tuple[int, int, int], rng: np.random.Generator) -> Duet:
    """`shape` = campaigns, rounds, superblocks: two processes a round that hand the device to each other.

    The device's state, fast or not, is common to both sides of a round; each process has its own placement
    offset (run_sd / 4), and the device wanders from block to block (run_sd / 10): assumed, not measured.
    """
    campaigns, rounds, superblocks = shape
    slots = 4 * superblocks
    b_first = rng.random(shape) < 0.5
    is_b = np.array([False, True, True, False]) ^ b_first[..., None]
    wander = noise.run_sd / 10 * rng.standard_normal((campaigns, rounds, slots)).cumsum(axis=-1)
    clock = noise.drift * np.arange(rounds * slots).reshape(rounds, slots) / (rounds * slots)
    common = (run_offsets(noise, (campaigns, rounds, 1), rng) + wander + clock).reshape(*shape, 4)
    placement = noise.run_sd / 4 * rng.standard_normal((2, campaigns, rounds, 1, 1))
    level = np.log(KERNEL_MS) + common + np.where(is_b, placement[1] + np.log1p(effect), placement[0])
    return Duet(b_first, launches(level, rng))


def replays(noise: Noise, effect: np.ndarray, rounds: int, rng: np.random.Generator) -> np.ndarray:
    """Log ratios of whole replays, A B B A or B A A B by a fair coin: effect's shape x rounds.

    Each replay is a run of its own, fast or not, so that nothing but the drift is common to its neighbours.
    """
    shape = (*effect.shape, rounds)
    clock = noise.drift * np.arange(4 * rounds).reshape(rounds, 4) / (4 * rounds)
    level = run_offsets(noise, (*shape, 4), rng) + clock
    sign = np.where(rng.random(shape) < 0.5, 1.0, -1.0)
    return np.log1p(effect)[..., None] + sign * (level @ np.array([-0.5, 0.5, 0.5, -0.5]))


@dataclass(frozen=True)
class Duet:
    """`b_first`: BAAB where True, else ABBA. `launches` ends in superblocks x 4 blocks x launches, in ms."""

    b_first: np.ndarray
    launches: np.ndarray

    def superblock_log_ratios(self) -> np.ndarray:
        """`superblock.superblock_log_ratio` for all superblocks at once; a test holds the two together."""
        ordered = np.sort(self.launches, axis=-1)
        cut = ordered.shape[-1] // 5
        logs = np.log(ordered[..., cut : ordered.shape[-1] - cut].mean(axis=-1))
        outer_minus_inner = (logs[..., 0] + logs[..., 3] - logs[..., 1] - logs[..., 2]) / 2
        return np.where(self.b_first, outer_minus_inner, -outer_minus_inner)
