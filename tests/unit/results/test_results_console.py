from __future__ import annotations

from zlbench_core.results.console import status_table, text_table, verdict_table


def test_numbers_stand_to_the_right_and_unknown_is_a_dash():
    table = text_table(
        [{"op": "mm", "ratio": 0.91234567, "rounds": 6}, {"op": "softmax", "ratio": None, "rounds": 12}],
        ("op", "ratio", "rounds"),
    )
    assert table == (
        "op        ratio  rounds\n-------  ------  ------\nmm       0.9123       6\nsoftmax       -      12\n"
    )


def test_columns_that_no_row_fills_are_left_out():
    assert verdict_table([{"op": "mm", "verdict": "FASTER", "reason": ""}]) == (
        "op  verdict\n--  -------\nmm  FASTER\n"
    )


def test_the_last_column_gives_way_to_a_narrow_terminal():
    table = status_table([{"op": "mm", "status": "failed", "reason": "x" * 100}], width=40)
    assert max(len(line) for line in table.splitlines()) == 40
    assert table.splitlines()[-1].endswith("x…")


def test_wide_characters_take_two_columns():
    assert text_table([{"op": "算子", "n": 1}], ("op", "n")) == "op    n\n----  -\n算子  1\n"


def test_control_characters_never_reach_the_terminal():
    table = status_table([{"op": "m\x1b[31mm", "status": "ok", "markers": {"A": 2}}])
    assert "\x1b" not in table
    assert "m\\x1b[31mm" in table
    assert "A x2" in table


def test_a_table_without_rows_says_so():
    assert status_table([]) == "(nothing)\n"
