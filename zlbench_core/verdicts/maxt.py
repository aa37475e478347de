"""Max-T over the rows of an operator: one family, whatever the dependence between its rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zlbench_core.verdicts.signflip import QUANTUM, quantise, share, sign_flip_p, sign_patterns

Floats = NDArray[np.float64]


def max_t_p(log_ratios: Floats, s0: Floats, *, seed: int = 0) -> tuple[float, ...]:
    """One p per row, adjusted for all rows of the operator (Westfall & Young's max-T, single step).

    `log_ratios`: rows x rounds, nan where a row was not measured; `s0`: one constant above 0 per row, in log
    units (a step of the row's clock), which keeps a row of equal rounds from having an infinite T.

        T_s = |mean_r y_sr| / (sd_s / sqrt(n_s) + s0_s)
        p_s = share of the sign patterns, each flipping whole rounds, in which the largest T is >= T_s

    A round is flipped for all rows at once, so what the rows share stays shared. A row measured in fewer
    than two rounds has p = 1.
    """
    rows, rounds = map(int, log_ratios.shape)
    counted = np.count_nonzero(~np.isnan(log_ratios), axis=1)
    usable = counted >= 2
    if not usable.any():
        return (1.0,) * rows
    if rows == 1:
        # T grows with |sum| alone, so a family of one row is the plain test, which is far quicker.
        return (sign_flip_p(log_ratios[~np.isnan(log_ratios)], seed=seed),)
    whole = quantise(np.nan_to_num(log_ratios[usable]))
    scale = _Scale(whole, counted[usable], s0[usable] / QUANTUM)
    # A tie within the rounding of `quantise` counts as reached: p is never too small.
    seen = scale.t(np.maximum(np.abs(whole.sum(axis=1, keepdims=True)) - rounds, 0.0))[:, 0]
    hits = np.zeros(len(seen), dtype=np.int64)
    for signs in sign_patterns(rounds, seed=seed):
        largest = scale.t(whole @ signs).max(axis=0)
        hits += np.count_nonzero(largest[None, :] >= seen[:, None], axis=1)
    p = np.ones(rows)
    p[usable] = [share(int(count), rounds) for count in hits]
    return tuple(float(value) for value in p)


class _Scale:
    """What of T does not change when rounds are flipped: the sum of squares, the count, s0."""

    def __init__(self, whole: Floats, counted: Floats, s0: Floats) -> None:
        self.count = counted[:, None].astype(np.float64)
        self.squares = np.array([[float(np.sum(np.sort(row * row)))] for row in whole])
        self.s0 = s0[:, None]

    def t(self, sums: Floats) -> Floats:
        """T for an array (rows x patterns) of sums of flipped rounds."""
        spread = np.maximum(self.squares - sums * sums / self.count, 0.0) / (self.count - 1)
        return np.abs(sums) / self.count / (np.sqrt(spread / self.count) + self.s0)
