from __future__ import annotations

import math

import pytest

from zlbench_core.errors import ConfigError
from zlbench_core.verdicts.interval import (
    delta_of,
    margin,
    mean_and_sd,
    resolution,
    rounds_needed,
    t_interval,
)


def test_mean_and_sd_by_hand():
    assert mean_and_sd([1, 2, 3, 4, 5, 6]) == (3.5, pytest.approx(math.sqrt(17.5 / 5)))
    assert mean_and_sd([2.0]) == (2.0, None)
    assert mean_and_sd([]) == (None, None)


def test_interval_by_hand():
    # t(5, 0.975) = 2.570582; 2.570582 * 1.870829 / sqrt(6) = 1.963315
    assert t_interval(3.5, math.sqrt(3.5), 6, 0.05) == pytest.approx((1.536685, 5.463315), abs=1e-5)
    # t(5, 0.95) = 2.015048: the interval of two one-sided tests at 5%
    assert t_interval(0.0, 1.0, 6, 0.10)[1] == pytest.approx(2.015048 / math.sqrt(6), abs=1e-6)


def test_margin_is_half_a_percent_for_a_kernel_of_fifty_microseconds():
    assert delta_of([resolution(0.05, 0.05)], [1.0], None) == 0.005


def test_margin_of_a_short_kernel_is_two_clock_steps():
    assert delta_of([resolution(0.00145, 0.00145)], [1.0], None) == pytest.approx(2 * 32 / 1450)


def test_a_batch_shares_one_clock_step():
    assert delta_of([resolution(0.00145, 0.00145, batch=10)], [1.0], None) == 0.005
    assert resolution(0.002, 0.002, batch=4) == pytest.approx(32e-6 / 0.008)


def test_resolution_is_the_same_from_both_sides():
    assert resolution(0.02, 0.05) == resolution(0.05, 0.02) == pytest.approx(32e-6 / math.sqrt(0.001))


def test_margin_of_an_operator_weighs_its_rows():
    assert delta_of([0.01, 0.02], [0.75, 0.25], None) == pytest.approx(2 * 0.0125)


def test_a_declared_margin_can_only_raise():
    assert delta_of([], [], 0.02) == 0.02
    assert delta_of([], [], 0.001) == 0.005


@pytest.mark.parametrize("declared", [0, -0.01, 1, 5, math.nan])
def test_an_impossible_margin_is_refused(declared):
    with pytest.raises(ConfigError, match=r"a share between 0 and 1"):
        delta_of([], [], declared)


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
