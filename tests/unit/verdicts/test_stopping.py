from __future__ import annotations

import pytest

from tests.unit.verdicts.verdict_rows import STEADY_FASTER, WOBBLE, decide, row
from zlbench_core.verdicts import fixed_looks, plan_looks
from zlbench_core.verdicts.drift import drift_complaint

MIXED = (0.02, -0.02, 0.02, -0.02, 0.02, -0.02)


def next_rounds(log_ratios, **options):
    return decide(row(log_ratios), **options).next_rounds


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
    assert next_rounds([None]) == next_rounds([None, None]) == 0


def test_looks_decide_the_numbers():
    assert next_rounds(MIXED, looks=fixed_looks(6)) == 0
    assert next_rounds(MIXED, looks=fixed_looks(8)) == 2
    assert next_rounds(MIXED, looks=plan_looks(operators=10)) == 3


def test_drift_needs_one_direction_and_the_size_of_the_effect():
    assert "drift apart by 1.01%" in drift_complaint([0.01] * 6, 0.005, 0.005)
    assert drift_complaint([-0.01] * 6, 0.005, 0.005) is not None
    assert drift_complaint([0.01] * 6, 0.02, 0.005) is None
    assert drift_complaint([0.004] * 6, 0.001, 0.005) is None
    assert drift_complaint([0.01, -0.01] * 3, 0.001, 0.005) is None
    assert drift_complaint([0.01] * 5, 0.001, 0.005) is None
    assert drift_complaint([], 0.001, 0.005) is None
