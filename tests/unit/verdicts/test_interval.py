from __future__ import annotations

import math

import pytest

from zlbench_core.errors import ConfigError
from zlbench_core.verdicts.interval import (
    Effect,
    delta_of,
    effect_of,
    margin,
    resolution,
    rounds_needed,
)


def test_the_plain_effect_by_hand():
    found = effect_of([1, 2, 3, 4, 5, 6])
    assert (found.theta, found.sd) == (3.5, pytest.approx(math.sqrt(17.5 / 5)))
    # t(5, 0.975) = 2.570582; 2.570582 * 1.870829 / sqrt(6) = 1.963315
    assert found.interval(0.05) == pytest.approx((1.536685, 5.463315), abs=1e-5)
    # t(5, 0.95) = 2.015048: the interval of two one-sided tests at 5%
    assert found.interval(0.10)[1] == pytest.approx(3.5 + 2.015048 * 1.870829 / math.sqrt(6), abs=1e-5)
    assert effect_of([2.0]) == Effect(2.0)
    assert effect_of([]) == Effect()
    assert effect_of([2.0]).interval(0.05) is None


def test_the_first_sides_advantage_is_taken_out_by_hand():
    # a first: 1, 2, 3 (mean 2, squares 2); b first: 7, 9 (mean 8, squares 2); 4 / (5 - 2) = sd^2
    found = effect_of([1, 7, 2, 9, 3], ["a", "b", "a", "b", "a"])
    assert (found.theta, found.first_side, found.freedom) == (5.0, 3.0, 3)
    assert found.sd == pytest.approx(math.sqrt(4 / 3))
    # t(3, 0.975) = 3.182446; the error is sd sqrt(1/3 + 1/2) / 2 = 0.527046
    assert found.interval(0.05) == pytest.approx((5 - 1.677297, 5 + 1.677297), abs=1e-5)


@pytest.mark.parametrize("firsts", [(), ["a", "a", "a"], ["a", None, "b"], [None, None, None]])
def test_where_the_order_is_not_known_or_was_always_one_nothing_is_taken_out(firsts):
    assert effect_of([1.0, 2.0, 4.0], firsts) == effect_of([1.0, 2.0, 4.0])


def test_two_rounds_have_no_spread_within_an_order():
    assert effect_of([1.0, 3.0], ["a", "b"]) == effect_of([1.0, 3.0])


def test_margin_is_half_a_percent_for_a_kernel_of_fifty_microseconds():
    assert delta_of([resolution(0.05, 0.05)], None) == 0.005


def test_margin_of_a_short_kernel_is_two_clock_steps():
    assert delta_of([resolution(0.00145, 0.00145)], None) == pytest.approx(2 * 32 / 1450)


def test_a_batch_shares_one_clock_step():
    assert delta_of([resolution(0.00145, 0.00145, batch=10)], None) == 0.005
    assert resolution(0.002, 0.002, batch=4) == pytest.approx(32e-6 / 0.008)


def test_resolution_is_the_same_from_both_sides():
    assert resolution(0.02, 0.05) == resolution(0.05, 0.02) == pytest.approx(32e-6 / math.sqrt(0.001))


def test_margin_of_an_operator_is_the_mean_of_its_rows():
    assert delta_of([0.01, 0.02], None) == pytest.approx(2 * 0.015)


def test_a_declared_margin_can_only_raise():
    assert delta_of([0.0], 0.02) == 0.02
    assert delta_of([0.0], 0.001) == 0.005


@pytest.mark.parametrize("declared", [0, -0.01, 1, 5, math.nan])
def test_an_impossible_margin_is_refused(declared):
    with pytest.raises(ConfigError, match=r"a share between 0 and 1"):
        delta_of([0.0], declared)


def test_margin_is_as_far_down_as_up():
    assert math.exp(margin(0.01)) == pytest.approx(1.01)
    assert math.exp(-margin(0.01)) == pytest.approx(1 / 1.01)


def test_rounds_needed_without_an_effect_is_the_planning_formula():
    assert rounds_needed(0.0, 0.01, 0.005) == math.ceil((3 * 0.01 / math.log1p(0.005)) ** 2) == 37
    assert rounds_needed(0.0, 0.0, 0.005) == rounds_needed(math.log1p(0.005), 0.0, 0.005) == 0


def test_rounds_needed_grows_as_the_effect_nears_the_margin_from_either_side():
    distances = [rounds_needed(effect, 0.002, 0.005) for effect in (0.0, 0.003, 0.004)]
    assert distances == sorted(distances)
    assert rounds_needed(-0.012, 0.002, 0.005) < rounds_needed(0.008, 0.002, 0.005)


def test_on_the_margin_no_number_of_rounds_is_promised():
    assert rounds_needed(math.log1p(0.005), 0.002, 0.005) is None
    assert rounds_needed(0.0, 1.0, 0.005) is None
