from __future__ import annotations

import math

import pytest

from zlbench_core.errors import ReadError
from zlbench_core.records.superblock import Superblock, block_centre, superblock_log_ratio


def blocks(order: str, log_ms: list[float]) -> Superblock:
    return Superblock(order, tuple((math.exp(value),) * 5 for value in log_ms))


def test_centre_is_the_mean_of_the_middle_three_fifths():
    assert block_centre([10, 1, 9, 2, 8, 3, 7, 4, 6, 5]) == pytest.approx((3 + 4 + 5 + 6 + 7 + 8) / 6)


def test_centre_resolves_less_than_a_clock_tick():
    tick = 32e-6
    mostly_low = [100 * tick] * 6 + [101 * tick] * 4
    assert 100 * tick < block_centre(mostly_low) < 101 * tick


def test_centre_ignores_one_launch_that_was_preempted():
    assert block_centre([1.0, 1.0, 1.0, 1.0, 50.0]) == 1.0


@pytest.mark.parametrize("bad", [0.0, -1.0, math.inf, math.nan])
def test_a_block_with_an_impossible_time_has_no_measurement(bad):
    assert block_centre([1.0, 1.0, bad, 1.0, 1.0]) is None


def test_an_empty_block_has_no_measurement():
    assert block_centre([]) is None


@pytest.mark.parametrize("order", ["ABBA", "BAAB"])
def test_linear_drift_cancels_in_both_orders(order):
    effect, drift = 0.01, 0.3
    log_ms = [drift * slot + (effect if side == "B" else 0.0) for slot, side in enumerate(order)]
    assert superblock_log_ratio(blocks(order, log_ms)) == pytest.approx(effect)


def test_the_ratio_is_b_over_a():
    assert superblock_log_ratio(blocks("ABBA", [0.0, -0.1, -0.1, 0.0])) == pytest.approx(-0.1)


@pytest.mark.parametrize("broken", range(4))
def test_one_bad_block_voids_the_superblock_for_both_sides(broken):
    samples = [(1.0, 1.0)] * 4
    samples[broken] = (1.0, math.inf)
    assert superblock_log_ratio(Superblock("ABBA", tuple(samples))) is None


def test_whole_replays_are_blocks_of_one_launch_of_which_none_is_dropped():
    assert superblock_log_ratio(Superblock("BAAB", ((2.0,), (2.0,), (2.0,), (2.0,)))) == 0.0


def test_a_throttled_superblock_has_no_measurement():
    assert superblock_log_ratio(Superblock("ABBA", ((1.0,),) * 4, void=True)) is None


@pytest.mark.parametrize("order", ["ABAB", "AABB", "abba", ""])
def test_an_order_in_which_drift_does_not_cancel_is_refused(order):
    with pytest.raises(ReadError, match="one of ABBA, BAAB"):
        Superblock(order, ((1.0,),) * 4)


def test_a_superblock_with_a_missing_block_is_refused():
    with pytest.raises(ReadError, match="3 blocks; 4 are expected"):
        Superblock("ABBA", ((1.0,),) * 3)
