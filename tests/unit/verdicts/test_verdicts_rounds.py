from __future__ import annotations

import math

import pytest
from verdict_rows import row

from zlbench_core.errors import ConfigError, ReadError
from zlbench_core.verdicts import Superblock, row_rounds
from zlbench_core.verdicts.rounds import combine, included_rows, round_log_ratio, round_span, row_weights

KEY = ("float16", "kernel", "[64]", 0)


def test_a_round_is_the_mean_of_its_superblocks():
    assert round_log_ratio([0.01, 0.03, -0.01]) == pytest.approx(0.01)


def test_a_round_counts_with_half_of_its_superblocks_and_not_with_fewer():
    assert round_log_ratio([0.02, None, None, 0.04]) == pytest.approx(0.03)
    assert round_log_ratio([0.02, None, None]) is None
    assert round_log_ratio([]) is None


def test_span_is_the_slope_over_the_whole_round():
    assert round_span([0.0, 0.01, 0.02, 0.03]) == pytest.approx(0.03)
    assert round_span([0.0, None, 0.02, 0.03]) == pytest.approx(0.03)
    assert round_span([0.05, 0.05, 0.05]) == pytest.approx(0.0)


def test_two_superblocks_have_no_slope():
    assert round_span([0.0, 0.01]) is None


def superblock(order: str, ratio: float) -> Superblock:
    return Superblock(order, tuple((0.2 * (ratio if side == "B" else 1.0),) * 6 for side in order))


def test_a_row_from_raw_blocks_has_ratios_latencies_and_a_hole_where_it_was_lost():
    measured = [superblock("ABBA", 1.1), superblock("BAAB", 1.1)]
    built = row_rounds("mm", KEY, [measured, None, []], batch=3)
    assert built.log_ratios == (pytest.approx(math.log(1.1)), None, None)
    assert (built.t_a_ms, built.t_b_ms) == (pytest.approx(0.2), pytest.approx(0.22))
    assert (built.key, built.batch, built.spans) == (KEY, 3, (None, None, None))


def test_a_row_that_was_never_measured_has_no_latency():
    built = row_rounds("mm", KEY, [None, None])
    assert (built.counted, built.t_a_ms, built.t_b_ms) == (0, None, None)


def test_discard_reaches_the_blocks():
    slow_start = Superblock("ABBA", tuple((9.0 if side == "B" else 1.0, 1.0, 1.0) for side in "ABBA"))
    assert row_rounds("mm", KEY, [[slow_start]], discard=1).log_ratios == (0.0,)


def test_a_row_measured_too_rarely_is_left_out_by_name():
    often, rarely = row([0.01] * 8, "[1]"), row([0.01] * 2 + [None] * 6, "[2]")
    kept, left_out = included_rows([often, rarely])
    assert kept == (often,)
    assert left_out == ("mm float16 kernel [2] #0: measured on both sides in 2 of 8 rounds",)


def test_a_round_that_no_row_has_excludes_nobody():
    rows = [row([0.01, None, 0.02], "[1]"), row([0.01, None, 0.02], "[2]")]
    assert included_rows(rows) == (tuple(rows), ())


def test_three_quarters_of_the_best_row_are_enough():
    complete, enough = row([0.01] * 8, "[1]"), row([0.01] * 6 + [None] * 2, "[2]")
    short = row([0.01] * 5 + [None] * 3, "[3]")
    assert included_rows([complete, enough, short])[0] == (complete, enough)


def test_rows_of_different_length_are_refused():
    with pytest.raises(ReadError, match=r"\[2\] #0: 2 rounds, but 3 are expected"):
        included_rows([row([0.0] * 3, "[1]"), row([0.0] * 2, "[2]")])


def test_a_row_that_comes_twice_is_refused():
    with pytest.raises(ReadError, match="comes twice"):
        included_rows([row([0.0]), row([0.0])])


def test_a_round_without_one_of_the_rows_does_not_count():
    assert combine([(0.01, None, 0.03), (0.03, 0.05, None)], (0.5, 0.5)) == (pytest.approx(0.02), None, None)


def test_weights_are_equal_unless_declared_and_add_up_to_one():
    rows = [row([0.0], "[1]"), row([0.0], "[2]")]
    assert row_weights(rows, None) == (0.5, 0.5)
    assert row_weights(rows, {rows[0].key: 3, rows[1].key: 1}) == (0.75, 0.25)


@pytest.mark.parametrize("weight", [None, 0, -1, math.nan, math.inf])
def test_a_row_without_a_valid_weight_is_refused_by_name(weight):
    rows = [row([0.0], "[1]"), row([0.0], "[2]")]
    with pytest.raises(ConfigError, match=r"weight of mm float16 kernel \[2\] #0"):
        row_weights(rows, {rows[0].key: 1, rows[1].key: weight})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"log_ratios": (0.0, math.nan)}, "log_ratios of round 2 is nan"),
        ({"spans": (math.inf,)}, "spans of round 1 is inf"),
        ({"spans": (0.0, 0.0)}, "2 spans for 1 rounds"),
        ({"batch": 0}, "batch is 0"),
        ({"t_a_ms": None}, "t_a_ms is None"),
        ({"t_b_ms": 0.0}, "t_b_ms is 0.0"),
        ({"t_b_ms": math.inf}, "t_b_ms is inf"),
    ],
)
def test_impossible_values_of_a_row_are_refused_by_name(fields, message):
    with pytest.raises(ReadError, match=message):
        row(**{"log_ratios": (0.0,), **fields})
