"""What only one side gains from round to round is not a difference between the two codes."""

from __future__ import annotations

import pytest

from tests.unit.verdicts.verdict_rows import STEADY_SLOWER, WOBBLE, decide, row
from zlbench_core.verdicts import Verdict, fixed_looks
from zlbench_core.verdicts.drift import trend_complaint
from zlbench_core.verdicts.interval import margin

LIMIT = margin(0.005)


def ramp(by: float, rounds: int = 6) -> tuple[float, ...]:
    return tuple(by * number / (rounds - 1) + WOBBLE[number % 6] for number in range(rounds))


@pytest.mark.parametrize("by", [0.05, -0.05])
def test_a_ramp_that_would_be_claimed_is_withheld_and_named(by):
    steep = tuple(0.05 * (by > 0) - 0.05 * (by < 0) + value for value in ramp(by))
    # The mean is 1.5 times what the ramp moves: a level difference that merely leans is still a claim.
    assert decide(row(steep)).verdict in (Verdict.FASTER, Verdict.SLOWER)
    verdict = decide(row(ramp(by)))
    assert verdict.verdict is Verdict.UNDECIDED
    assert "over the rounds: not stationary" in verdict.detail


def test_a_steady_difference_is_no_drift():
    assert trend_complaint(STEADY_SLOWER, 0.02, LIMIT) is None
    assert decide(row(STEADY_SLOWER)).verdict is Verdict.SLOWER


def test_a_drift_below_the_margin_is_none():
    tiny = tuple(0.0008 * number for number in range(6))
    assert trend_complaint(tiny, 0.002, LIMIT) is None


def test_rounds_that_do_not_go_one_way_are_no_drift():
    assert trend_complaint((0.0, 0.02, 0.0, 0.02, 0.0, 0.02), 0.01, LIMIT) is None


def test_a_missing_round_keeps_its_place_in_the_order():
    gap = (0.0, None, 0.004, 0.006, 0.008, 0.010, 0.012)
    assert "1.21% over the rounds" in trend_complaint(gap, 0.006, LIMIT)


@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_fewer_rounds_than_a_claim_needs_say_nothing(rounds):
    assert trend_complaint(tuple(0.01 * number for number in range(rounds)), 0.0, LIMIT) is None


def test_a_drift_does_not_excuse_a_placebo():
    steep = tuple(0.012 + 0.02 * number / 5 for number in range(6))
    verdict = decide(row(steep), ir="identical", looks=fixed_looks(6))
    from zlbench_core.verdicts.placebo import check_placebos

    assert check_placebos([verdict], 0.05).claims == 1
