from __future__ import annotations

import pytest
from verdict_rows import STEADY_FASTER, WOBBLE

from zlbench_core.verdicts import fixed_looks, next_rounds, plan_looks
from zlbench_core.verdicts.drift import drift_complaint
from zlbench_core.verdicts.stopping import anytime_p, kt_e_values

MIXED = (0.02, -0.02, 0.02, -0.02, 0.02, -0.02)


@pytest.mark.parametrize("run", range(6))
def test_the_first_look_is_always_reached(run):
    assert next_rounds([0.02] * run) == 6 - run


def test_a_decided_series_needs_no_further_round():
    assert next_rounds(STEADY_FASTER) == 0
    assert next_rounds(WOBBLE) == 0


def test_an_open_series_goes_on_to_the_last_look_and_no_further():
    assert next_rounds(MIXED) == 6
    assert next_rounds(MIXED + MIXED[:3]) == 3
    assert next_rounds(MIXED + MIXED) == 0
    assert next_rounds(MIXED * 3) == 0


def test_a_margin_that_is_not_cleared_keeps_a_series_open():
    assert next_rounds(STEADY_FASTER, delta=0.02) == 6


def test_lost_rounds_count_as_run():
    assert next_rounds([*STEADY_FASTER[:5], None]) == 6
    assert next_rounds([None, None]) == 0


def test_looks_decide_the_numbers():
    assert next_rounds(MIXED, looks=fixed_looks(6)) == 0
    assert next_rounds(MIXED, looks=fixed_looks(8)) == 2
    assert next_rounds(MIXED, 0.05, looks=plan_looks(operators=10)) == 3


def test_kt_bets_by_hand():
    # first bet 1/2 wins nothing; then 3/4: x 1.5; then 1.5/4... a minus pays 2 (1 - 5/6) = 1/3.
    assert kt_e_values([0.1, 0.1, -0.1]) == pytest.approx((1.0, 1.5, 1.5 / 3))
    assert kt_e_values([0.0, 0.1, 0.0, 0.1]) == pytest.approx((1.0, 1.0, 1.0, 1.5))


@pytest.mark.parametrize(
    ("alpha", "rounds"), [(0.05, 7), (0.01, 10), (0.05 / 16, 11), (0.05 / 40, 13), (0.05 / 100, 14)]
)
def test_kt_needs_the_rounds_of_the_published_table(alpha, rounds):
    assert anytime_p([0.01] * (rounds - 1)) > alpha >= anytime_p([0.01] * rounds)
    assert anytime_p([-0.01] * rounds) == anytime_p([0.01] * rounds)


def test_an_anytime_claim_stays_claimed():
    assert anytime_p([0.01] * 7 + [-0.01] * 20) == anytime_p([0.01] * 7)
    assert anytime_p([]) == 1.0


def test_drift_needs_one_direction_and_the_size_of_the_effect():
    assert "drift apart by 1.01%" in drift_complaint([0.01] * 6, 0.005, 0.005)
    assert drift_complaint([-0.01] * 6, 0.005, 0.005) is not None
    assert drift_complaint([0.01] * 6, 0.02, 0.005) is None
    assert drift_complaint([0.004] * 6, 0.001, 0.005) is None
    assert drift_complaint([0.01, -0.01] * 3, 0.001, 0.005) is None
    assert drift_complaint([0.01] * 5, 0.001, 0.005) is None
    assert drift_complaint([], 0.001, 0.005) is None
