"""What other tools' published rules say of two lists of timings. Each is written anew from its rule.

Every function takes the timings of A and of B in any one unit and answers for B: "faster", "slower", "same"
or "unclear". "same" also stands for "not significant", since that is how these reports read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import stats

FASTER, SLOWER, SAME, UNCLEAR = "faster", "slower", "same", "unclear"


def nvbench_legacy(a: Sequence[float], b: Sequence[float]) -> str:
    """nvbench-compare-legacy: the means differ by more than the smaller relative standard deviation.

    Source: NVIDIA/nvbench 66212f1, python/scripts/nvbench_compare.py (the status),
    nvbench/detail/statistics.cuh (standard deviation with n - 1; no noise below 5 samples).
    """
    noises = [noise for noise in (_relative_sd(a), _relative_sd(b)) if noise]
    if not noises:
        return UNCLEAR
    change = (np.mean(b) - np.mean(a)) / np.mean(a)
    return SAME if abs(change) <= min(noises) else _direction(change)


def nvbench_robust(a: Sequence[float], b: Sequence[float]) -> str:
    """nvbench-compare-robust with its default thresholds, time part: intervals [min, q3] with a gap of 0.5%.

    The confirmation in clock cycles and the bulk sample files are left out, so this claims at least as often
    as the tool does. Source: NVIDIA/nvbench 66212f1, docs/nvbench_compare_robust.md ("Decision Tree"), ranks
    as in python/scripts/nvbench_compare_robust.py.
    """
    (a_low, a_centre, a_high, a_noise), (b_low, b_centre, b_high, b_noise) = _quartiles(a), _quartiles(b)
    if b_high < a_low and (a_low - b_high) / b_high >= 0.005:
        return FASTER
    if b_low > a_high and (b_low - a_high) / a_high >= 0.005:
        return SLOWER
    close = abs(a_centre - b_centre) / min(a_centre, b_centre) <= 0.005
    overlap = _overlap((a_low, a_high), (b_low, b_high)) >= 0.5
    return SAME if close and overlap and max(a_noise, b_noise) <= 0.02 else UNCLEAR


def tritonbench_ab(a: Sequence[float], b: Sequence[float]) -> str:
    """tritonbench's A/B test: Welch's t when both sides look normal, else Mann-Whitney; p < 0.05.

    "Look normal" is Shapiro-Wilk p > 0.05 on at most 5,000 evenly spaced samples. Needs 30 samples a side.
    The direction is that of the means. Source: meta-pytorch/tritonbench 847383d,
    tritonbench/components/do_bench/latency_analysis.py.
    """
    if min(len(a), len(b)) < 30:
        return UNCLEAR
    if _looks_normal(a) and _looks_normal(b):
        p = stats.ttest_ind(a, b, equal_var=False).pvalue
    else:
        p = stats.mannwhitneyu(a, b, alternative="two-sided", method="asymptotic").pvalue
    return _direction(np.mean(b) - np.mean(a)) if p < 0.05 else SAME


def google_benchmark(a: Sequence[float], b: Sequence[float]) -> str:
    """google/benchmark's compare.py: Mann-Whitney over the repetitions, p < 0.05; direction of the medians.

    It asks for 9 repetitions and warns below; fewer than 2 give no answer. Source: google/benchmark 267a111,
    tools/gbench/report.py (calc_utest), tools/compare.py (alpha).
    """
    if min(len(a), len(b)) < 2:
        return UNCLEAR
    p = stats.mannwhitneyu(a, b, alternative="two-sided").pvalue
    return _direction(np.median(b) - np.median(a)) if p < 0.05 else SAME


def pyperf(a: Sequence[float], b: Sequence[float]) -> str:
    """pyperf compare_to: Student's two-sample t with the pooled variance against a table at 95%.

    An error in the test, such as sides of unequal length or no variance at all, is reported as significant,
    as is a comparison of two single values. Source: psf/pyperf ab7fd04, pyperf/_utils.py (is_significant),
    pyperf/_compare.py (is_significant_benchs).
    """
    change = np.mean(b) - np.mean(a)
    pooled = (np.var(a) + np.var(b)) * len(a) / max(1, 2 * len(a) - 2)
    if len(a) != len(b) or len(a) == 1 or pooled == 0:
        return _direction(change)
    score = abs(change) / math.sqrt(2 * pooled / len(a))
    return _direction(change) if score >= _pyperf_critical(2 * len(a) - 2) else SAME


PEERS: dict[str, Callable[[Sequence[float], Sequence[float]], str]] = {
    "nvbench legacy": nvbench_legacy,
    "nvbench robust, time part": nvbench_robust,
    "tritonbench A/B": tritonbench_ab,
    "google/benchmark Mann-Whitney": google_benchmark,
    "pyperf t": pyperf,
}


def _direction(change: float) -> str:
    if change == 0:
        return SAME
    return FASTER if change < 0 else SLOWER


def _relative_sd(samples: Sequence[float]) -> float | None:
    return float(np.std(samples, ddof=1) / np.mean(samples)) if len(samples) >= 5 else None


def _quartiles(samples: Sequence[float]) -> tuple[float, float, float, float]:
    ordered = sorted(samples)
    q1, centre, q3 = (ordered[(percent * (len(ordered) - 1) + 50) // 100] for percent in (25, 50, 75))
    return ordered[0], centre, q3, (q3 - q1) / centre


def _overlap(a: tuple[float, float], b: tuple[float, float]) -> float:
    """The common part of two intervals as a share of the narrower one; a single point lies inside or not."""
    common = min(a[1], b[1]) - max(a[0], b[0])
    if common < 0:
        return 0.0
    narrow = min(a[1] - a[0], b[1] - b[0])
    return common / narrow if narrow > 0 else 1.0


def _looks_normal(samples: Sequence[float]) -> bool:
    step = max(1.0, len(samples) / 5000)
    tested = [samples[int(i * step)] for i in range(min(len(samples), 5000))]
    return bool(min(tested) < max(tested) and stats.shapiro(tested).pvalue > 0.05)


def _pyperf_critical(freedom: int) -> float:
    """pyperf's table: exact to three decimals up to 30 degrees of freedom, then steps."""
    for least, value in ((200, 1.960), (100, 1.984), (80, 1.990), (60, 2.000), (50, 2.009), (40, 2.021)):
        if freedom >= least:
            return value
    return round(float(stats.t.isf(0.025, min(freedom, 30))), 3)
