from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.verdicts.verdict_rows import EXAMPLES
from zlbench_core.verdicts.maxt import max_t_p
from zlbench_core.verdicts.signflip import sign_flip_p

S0 = 0.0003
# On a grid two sums are either a true tie or far apart, whatever tolerance the two sides of a test have.
ROUNDS = st.lists(st.integers(-2000, 2000).map(lambda k: k / 10_000), min_size=5, max_size=5)
NAN = math.nan


def p_of(rows: list[list[float]], seed: int = 0) -> tuple[float, ...]:
    return max_t_p(np.array(rows), np.full(len(rows), S0), seed=seed)


def t_of(values: list[float]) -> float:
    present = [value for value in values if not math.isnan(value)]
    spread = statistics.stdev(present) / math.sqrt(len(present))
    return abs(statistics.fmean(present)) / (spread + S0)


def brute_force(rows: list[list[float]]) -> list[float]:
    largest = [
        max(t_of([e * v for e, v in zip(signs, values, strict=True)]) for values in rows)
        for signs in itertools.product((-1, 1), repeat=len(rows[0]))
    ]
    return [sum(t >= t_of(values) * (1 - 1e-7) for t in largest) / len(largest) for values in rows]


def test_rows_that_agree_in_all_rounds_reach_the_floor_together():
    rows = [[0.010, 0.011, 0.012, 0.010, 0.011, 0.012], [-0.02, -0.021, -0.02, -0.022, -0.02, -0.021]]
    assert p_of(rows) == (0.03125, 0.03125)


def test_a_weak_row_pays_for_its_strong_neighbour():
    strong = [0.02, 0.021, 0.02, 0.019, 0.02, 0.021]
    weak = [0.004, 0.001, 0.003, -0.001, 0.002, 0.001]
    strong_p, weak_p = p_of([strong, weak])
    assert strong_p == 0.03125
    assert weak_p > sign_flip_p(weak)


@given(st.lists(ROUNDS, min_size=2, max_size=3))
@EXAMPLES
def test_agrees_with_enumeration_by_hand(rows):
    assert p_of(rows) == pytest.approx(brute_force(rows))


@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_enumeration_where_rows_compete(seed):
    rng = np.random.default_rng(seed)
    effects, noises = rng.choice([0.0, 0.0005, 0.002], (3, 1)), rng.choice([0.0003, 0.002, 0.01], (3, 1))
    rows = np.round(effects + noises * rng.standard_normal((3, 7)), 4).tolist()
    rows[0][2] = NAN
    assert p_of(rows) == pytest.approx(brute_force(rows))


@given(ROUNDS)
@EXAMPLES
def test_one_row_is_the_plain_test(values):
    assert p_of([values]) == (sign_flip_p(values),)


@given(ROUNDS, ROUNDS)
@EXAMPLES
def test_company_never_makes_a_row_more_certain(values, other):
    assert p_of([values, other])[0] >= p_of([values])[0]


def test_rows_of_equal_rounds_have_a_finite_t_because_of_the_clock():
    # sd = 0 for both; s0 makes the larger effect the larger T, and both reach the floor.
    assert p_of([[0.001] * 6, [0.002] * 6]) == (0.03125, 0.03125)


def test_s0_of_a_coarse_clock_lets_the_other_row_lead():
    rows = np.array([[0.001, 0.002, 0.001, -0.001, 0.002, 0.001], [0.01, 0.012, 0.011, 0.01, 0.012, 0.011]])
    fine, coarse = max_t_p(rows, np.array([1e-5, 1e-5])), max_t_p(rows, np.array([1.0, 1e-5]))
    assert coarse[0] > fine[0]


def test_a_missing_round_leaves_the_other_rows_alone():
    complete = [0.01, 0.011, 0.012, 0.01, 0.011, 0.012]
    partial = [0.01, 0.011, 0.012, 0.01, 0.011, NAN]
    complete_p, partial_p = p_of([complete, partial])
    assert complete_p == 0.03125
    assert partial_p >= 0.0625


def test_a_row_with_one_round_says_nothing():
    assert p_of([[0.5, NAN, NAN], [NAN, NAN, NAN]]) == (1.0, 1.0)
    assert p_of([[0.5, NAN, NAN], [0.01, 0.01, 0.01]])[0] == 1.0
    assert p_of([[0.5, 0.51, NAN], [0.001, -0.001, 0.0005]])[0] == 0.5


def test_twenty_rounds_are_enumerated_and_more_are_drawn():
    rows = [[0.01] * 20, [0.02] * 20]
    assert p_of(rows) == (2**-19, 2**-19)
    assert p_of([[*values, values[0]] for values in rows]) == (1 / 65537, 1 / 65537)


def test_above_twenty_rounds_the_seed_decides_the_same_every_time():
    rng = np.random.default_rng(5)
    rows = (0.001 + 0.004 * rng.standard_normal((2, 21))).tolist()
    assert p_of(rows, seed=1) == p_of(rows, seed=1)
    assert p_of(rows, seed=1) != p_of(rows, seed=2)
    # One row alone has an exact p to compare the drawn one with, once its neighbour cannot matter.
    drawn = max_t_p(np.array(rows), np.array([1e-6, 10.0]))[0]
    assert drawn == pytest.approx(sign_flip_p(rows[0]), abs=0.01)
