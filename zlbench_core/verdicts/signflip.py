"""The sign-flip test: exact at any n when the order of the two sides was decided by a fair coin."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from zlbench_core.campaign.looks import MOST_ROUNDS
from zlbench_core.errors import ConfigError

# Log ratios become whole multiples of this before they are added up. Whole numbers add exactly, so that
# ties stay ties, the order of the rounds is nothing, and every machine gets the same p. It is 1e-12 of a
# latency.
QUANTUM = 2.0**-40
MOST_ENUMERATED = 20
MOST_HALVED = 40
DRAWS = 1 << 16
_CHUNK = 1 << 14


def quantise(log_ratios: Sequence[float] | np.ndarray) -> np.ndarray:
    """Log ratios as whole numbers of QUANTUM, held in float64 (exact: below 2^53)."""
    return np.rint(np.asarray(log_ratios, dtype=np.float64) / QUANTUM)


def sign_flip_p(log_ratios: Sequence[float] | np.ndarray, *, seed: int = 0) -> float:
    """Two-sided p of "B = A": the share of the 2^n sign patterns with |sum e_r d_r| >= |sum d_r|.

    Zeros are kept. Exact up to 40 rounds; above, `DRAWS` seeded patterns and (1 + hits) / (1 + draws), which
    is valid too (Phipson & Smyth 2010). A tie within the rounding of `quantise` counts as reached, so p is
    never too small. No rounds: 1. Source: Fisher's randomisation test (docs/verdicts.md, Why).
    """
    rounds = len(log_ratios)
    whole = quantise(log_ratios)
    bound = abs(float(whole.sum())) - rounds
    if bound <= 0:
        return 1.0
    if rounds <= MOST_HALVED:
        return _share_beyond(whole, bound)
    hits = sum(
        int(np.count_nonzero(np.abs(whole @ signs) >= bound)) for signs in sign_patterns(rounds, seed=seed)
    )
    return share(hits, rounds)


def sign_patterns(rounds: int, *, seed: int = 0) -> Iterator[np.ndarray]:
    """Arrays (rounds x up to 16384) of -1 and +1: all patterns that start with +1; above 20 rounds, DRAWS.

    The patterns that start with -1 are the mirror images, and every statistic here is an absolute value.
    Raises ConfigError above 64 rounds.
    """
    if rounds > MOST_ROUNDS:
        raise ConfigError(f"{rounds} rounds; at most {MOST_ROUNDS} are allowed")
    enumerated = rounds <= MOST_ENUMERATED
    words = _counting(rounds) if enumerated else _random_words(seed)
    shifts = np.arange(rounds, dtype=np.uint64)[:, None]
    for chunk in words:
        yield 1.0 - 2.0 * ((chunk[None, :] >> shifts) & np.uint64(1)).astype(np.float64)


def share(hits: int, rounds: int) -> float:
    """The p-value of `hits` among the patterns that `sign_patterns` yields for that many rounds."""
    if rounds <= MOST_ENUMERATED:
        return math.ldexp(hits, 1 - rounds)
    return (1 + hits) / (1 + DRAWS)


def _counting(rounds: int) -> Iterator[np.ndarray]:
    total = 1 << (rounds - 1)
    for start in range(0, total, _CHUNK):
        # Bit 0 stays 0: the first round keeps its sign.
        yield np.arange(start, min(start + _CHUNK, total), dtype=np.uint64) << np.uint64(1)


def _random_words(seed: int) -> Iterator[np.ndarray]:
    # The raw stream of a bit generator is what numpy promises to keep from version to version (NEP 19).
    stream = np.random.PCG64(seed)
    for _ in range(DRAWS // _CHUNK):
        yield stream.random_raw(_CHUNK)


def _share_beyond(whole: np.ndarray, bound: float) -> float:
    # Meet in the middle: all sums of each half of the rounds, so that 2^40 patterns cost 2^20 steps.
    middle = len(whole) // 2
    left, right = _all_sums(whole[:middle]), np.sort(_all_sums(whole[middle:]))
    above = len(right) - np.searchsorted(right, bound - left, side="left")
    return math.ldexp(2 * int(above.sum()), -len(whole))


def _all_sums(whole: np.ndarray) -> np.ndarray:
    sums = np.zeros(1)
    for value in whole:
        sums = np.add.outer((value, -value), sums).ravel()
    return sums
