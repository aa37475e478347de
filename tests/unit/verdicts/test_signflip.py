from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.verdicts.verdict_rows import EXAMPLES
from zlbench_core.errors import ConfigError
from zlbench_core.verdicts.signflip import sign_flip_p

# On a grid two sums are either a true tie or far apart, whatever tolerance the two sides of a test have.
RATIOS = st.integers(-5000, 5000).map(lambda k: k / 10_000)


def brute_force(values: list[float]) -> float:
    seen = abs(math.fsum(values)) - 1e-10
    patterns = itertools.product((-1, 1), repeat=len(values))
    hits = sum(
        abs(math.fsum(e * v for e, v in zip(signs, values, strict=True))) >= seen for signs in patterns
    )
    return hits / 2 ** len(values)


@pytest.mark.parametrize(
    ("rounds", "p"), [(1, 1.0), (2, 0.5), (4, 0.125), (5, 0.0625), (6, 0.03125), (8, 2 / 256), (12, 2 / 4096)]
)
def test_agreeing_rounds_reach_exactly_two_patterns(rounds, p):
    assert sign_flip_p([0.01 * (k + 1) for k in range(rounds)]) == p
    assert sign_flip_p([-0.01] * rounds) == p


def test_by_hand():
    # |+-3 +-1|: 4, 2, 2, 4; seen 2, so every pattern reaches it.
    assert sign_flip_p([0.03, -0.01]) == 1.0
    # |+-1 +-2 +-4| = 7 5 3 1 1 3 5 7; seen |1 + 2 - 4| = 1, |-1 + 2 + 4| = 5.
    assert sign_flip_p([0.01, 0.02, -0.04]) == 1.0
    assert sign_flip_p([-0.01, 0.02, 0.04]) == 0.5


def test_zero_rounds_are_kept_and_cost_a_factor_of_two():
    assert sign_flip_p([0.01] * 5 + [0.0]) == 0.0625
    assert sign_flip_p([0.0] * 6) == 1.0


def test_no_rounds_are_no_evidence():
    assert sign_flip_p([]) == 1.0


def test_sums_that_differ_by_rounding_only_are_ties():
    # 0.1 + 0.2 - 0.3 is 5.6e-17 in binary; as decimals it is 0, which every pattern reaches.
    assert sign_flip_p([0.1, 0.2, -0.3]) == 1.0
    assert sign_flip_p([0.1, 0.2, 0.3, -0.1]) == brute_force([0.1, 0.2, 0.3, -0.1])


@given(st.lists(RATIOS, min_size=1, max_size=9))
@EXAMPLES
def test_agrees_with_enumeration_by_hand(values):
    assert sign_flip_p(values) == brute_force(values)


@pytest.mark.parametrize("rounds", [13, 21, 24, 40])
def test_equal_sizes_give_the_binomial_whatever_the_number_of_rounds(rounds):
    against = rounds // 4
    tail = sum(math.comb(rounds, k) for k in range(against + 1))
    assert sign_flip_p([0.01] * (rounds - against) + [-0.01] * against) == 2 * tail / 2**rounds


def test_above_forty_rounds_the_seed_decides_the_same_every_time():
    values = [0.01] * 26 + [-0.01] * 18
    exact = 2 * sum(math.comb(44, k) for k in range(19)) / 2**44
    assert sign_flip_p(values, seed=3) == sign_flip_p(values, seed=3)
    assert sign_flip_p(values, seed=3) != sign_flip_p(values, seed=4)
    assert sign_flip_p(values) == pytest.approx(exact, abs=6 * math.sqrt(exact / 65536))


def test_drawn_patterns_never_give_zero():
    assert sign_flip_p([0.01] * 64) == 1 / 65537


def test_more_rounds_than_patterns_have_bits_are_refused():
    with pytest.raises(ConfigError, match="65 rounds; at most 64"):
        sign_flip_p([0.01] * 65)
