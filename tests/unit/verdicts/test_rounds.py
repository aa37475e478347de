from __future__ import annotations

import math

import pytest

from tests.unit.verdicts.verdict_rows import row
from zlbench_core.errors import ReadError
from zlbench_core.verdicts.rounds import combine, included_rows, round_span


def test_span_is_the_slope_over_the_whole_round():
    assert round_span([0.0, 0.01, 0.02, 0.03]) == pytest.approx(0.03)
    assert round_span([0.0, None, 0.02, 0.03]) == pytest.approx(0.03)
    assert round_span([0.05, 0.05, 0.05]) == pytest.approx(0.0)
    assert round_span([0.0, 0.01, 0.02, None, None, None]) == pytest.approx(0.05)
    assert round_span([0.0, 0.01, 0.02, None, None, None, None]) is None


def test_two_superblocks_have_no_slope():
    assert round_span([0.0, 0.01]) is None


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
    assert combine([(0.01, None, 0.03), (0.03, 0.05, None)]) == (pytest.approx(0.02), None, None)


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
