from __future__ import annotations

import numpy as np
import pytest
from fake_clock import NOISES, sequential
from peer_rules import (
    FASTER,
    PEERS,
    SAME,
    SLOWER,
    UNCLEAR,
    google_benchmark,
    nvbench_legacy,
    nvbench_robust,
    pyperf,
    tritonbench_ab,
)

WIDE = [0.98, 0.99, 1.00, 1.01, 1.02]  # relative standard deviation 1.58%


def shifted(samples: list[float], by: float) -> list[float]:
    return [value * (1 + by) for value in samples]


def test_nvbench_legacy_compares_the_change_with_the_smaller_noise():
    narrow = [0.999, 1.0, 1.001, 1.0, 1.0]
    assert nvbench_legacy(WIDE, shifted(WIDE, 0.015)) == SAME
    assert nvbench_legacy(WIDE, shifted(WIDE, -0.017)) == FASTER
    assert nvbench_legacy(WIDE, shifted(narrow, 0.002)) == SLOWER


def test_nvbench_legacy_needs_noise():
    assert nvbench_legacy(WIDE[:4], WIDE[:4]) == UNCLEAR
    assert nvbench_legacy([1.0] * 5, [2.0] * 5) == UNCLEAR
    assert nvbench_legacy([1.0] * 5, shifted(WIDE, 0.5)) == SLOWER


def test_nvbench_robust_wants_a_gap_between_minimum_and_third_quartile():
    # [0.98, 1.01]; 2% down is [0.9604, 0.9898], which overlaps; 4% down ends at 0.9696, a gap of 1.07%
    assert nvbench_robust(WIDE, shifted(WIDE, -0.02)) == UNCLEAR
    assert nvbench_robust(WIDE, shifted(WIDE, -0.04)) == FASTER
    assert nvbench_robust(shifted(WIDE, -0.04), WIDE) == SLOWER
    # a gap of 0.3% is not clear
    assert nvbench_robust(WIDE, shifted(WIDE, -0.0326)) == UNCLEAR


def test_nvbench_robust_says_same_only_when_close_overlapping_and_calm():
    calm = [0.998, 0.999, 1.0, 1.001, 1.002]
    assert nvbench_robust(calm, calm) == SAME
    assert nvbench_robust(calm, shifted(calm, 0.001)) == SAME
    assert nvbench_robust(calm, shifted(calm, 0.0025)) == UNCLEAR
    noisy = [0.9, 0.95, 1.0, 1.05, 1.1]
    assert nvbench_robust(noisy, noisy) == UNCLEAR
    assert nvbench_robust([1.0] * 5, [1.0] * 5) == SAME


def test_tritonbench_needs_thirty_samples():
    assert tritonbench_ab([1.0] * 29, [2.0] * 40) == UNCLEAR


def test_tritonbench_picks_its_test_from_the_data():
    rng = np.random.default_rng(1)
    normal = rng.normal(1.0, 0.01, 40).tolist()
    assert tritonbench_ab(normal, shifted(normal, 0.02)) == SLOWER
    assert tritonbench_ab(normal, normal) == SAME
    # One launch of 100 makes the mean 5% slower and the ranks no different: Mann-Whitney says nothing.
    outlier = [*normal[:-1], 3.0]
    assert tritonbench_ab(normal, outlier) == SAME
    # A constant side is "not normal" too.
    assert tritonbench_ab([1.0] * 30, [1.1] * 30) == SLOWER


def test_google_benchmark_by_hand():
    # 4 against 4 without overlap: exact two-sided p = 2 / C(8, 4) = 0.0286; 3 against 3: 0.1
    assert google_benchmark([1.1, 1.2, 1.3, 1.4], [1.0, 0.9, 0.8, 0.7]) == FASTER
    assert google_benchmark([1.1, 1.2, 1.3], [1.0, 0.9, 0.8]) == SAME
    assert google_benchmark([1.0], [2.0]) == UNCLEAR


def test_pyperf_by_hand():
    # means 2 and 4, pooled variance 1, n 3: t = 2 / sqrt(2/3) = 2.449; t(4) = 2.776
    assert pyperf([1, 2, 3], [3, 4, 5]) == SAME
    # means 2 and 4.5: t = 3.062
    assert pyperf([1, 2, 3], [3.5, 4.5, 5.5]) == SLOWER
    assert pyperf([3.5, 4.5, 5.5], [1, 2, 3]) == FASTER


def test_pyperf_reports_what_it_cannot_test_as_significant():
    assert pyperf([1.0], [1.1]) == SLOWER
    assert pyperf([1.0, 1.2], [1.1, 1.2, 1.3]) == SLOWER
    assert pyperf([1.0, 1.0], [0.9, 0.9]) == FASTER
    assert pyperf([1.0, 1.0], [1.0, 1.0]) == SAME


@pytest.mark.parametrize(
    ("count", "critical"), [(3, 2.776), (10, 2.101), (20, 2.042), (25, 2.021), (101, 1.96)]
)
def test_pyperf_uses_its_table_with_steps(count, critical):
    ones = np.tile([-1.0, 1.0], (count + 1) // 2)[:count]
    ones = (ones - ones.mean()) / ones.std(ddof=1)
    scale = np.sqrt(2 / count)
    assert pyperf(ones, ones + (critical + 0.001) * scale) == SLOWER
    assert pyperf(ones, ones + (critical - 0.001) * scale) == SAME


def test_every_peer_mirrors_when_the_sides_are_swapped():
    rng = np.random.default_rng(2)
    mirror = {FASTER: SLOWER, SLOWER: FASTER}
    for rule in PEERS.values():
        a, b = sequential(NOISES[1], 0.05, 1, 60, rng)[:, 0]
        assert rule(a, b) == SLOWER
        assert rule(b, a) == mirror[rule(a, b)]
