from __future__ import annotations

import pytest

from zlbench_core.results.console import fitted, screen_width, text_table
from zlbench_core.results.tables import STATUS_SHOWN


def test_numbers_stand_to_the_right_and_unknown_is_a_dash():
    table = text_table(
        [{"op": "mm", "ratio": 0.91234567, "rounds": 6}, {"op": "softmax", "ratio": None, "rounds": 12}],
        ("op", "ratio", "rounds"),
    )
    assert table == (
        "op        ratio  rounds\n-------  ------  ------\nmm       0.9123       6\nsoftmax       -      12\n"
    )


def test_numbers_that_a_file_holds_as_text_stand_to_the_right_too():
    table = text_table([{"op": "mm", "ms": "0.003499"}, {"op": "add", "ms": ""}], ("op", "ms"))
    assert table == "op         ms\n---  --------\nmm   0.003499\nadd         -\n"


def test_columns_that_no_row_fills_are_left_out():
    table = text_table([{"op": "mm", "verdict": "FASTER", "reason": ""}], ("op", "verdict", "reason"))
    assert table == "op  verdict\n--  -------\nmm  FASTER\n"


def test_what_is_too_wide_stands_below_its_row_and_nothing_is_cut():
    words = [f"word{number}" for number in range(20)]
    lines = [
        {"op": "mm", "status": "failed", "rows": 3, "reason": " ".join(words)},
        {"op": "add", "rows": 12},
    ]
    table = text_table(lines, STATUS_SHOWN.names, width=40)
    first, *below, second = table.splitlines()[2:]
    assert (first, second) == ("mm   failed     3", "add  -         12")
    assert below[0].startswith("    reason: word0 ")
    assert " ".join(below).split() == ["reason:", *words]
    assert max(map(len, table.splitlines())) <= 40


def test_what_fits_stays_in_its_row_and_a_pipe_keeps_every_row_on_one_line():
    lines = [{"op": "mm", "status": "failed", "reason": "x" * 300}]
    assert len(text_table(lines, STATUS_SHOWN.names).splitlines()) == 3
    assert len(text_table(lines, STATUS_SHOWN.names, width=320).splitlines()) == 3


@pytest.mark.parametrize("width", [40, 57, 80])
def test_more_numbers_than_the_width_holds_stand_below_and_whole(width):
    values = {f"counter_{number}": 10**number + 7 for number in range(14)}
    table = text_table([{"op": "mm", **values}], ("op", *values), width)
    assert max(map(len, table.splitlines())) <= width
    assert {str(value) for value in values.values()} <= set(table.split())


@pytest.mark.parametrize("width", [40, 41, 42, 43, 44, 45])
def test_a_line_without_spaces_is_not_folded_inside_a_number(width):
    text = ",".join(f"{number}.25e-{number}" for number in range(10, 40))
    pieces = fitted(text, width).splitlines()
    assert max(map(len, pieces)) <= width
    assert [part for piece in pieces for part in piece.strip().split(",") if part] == text.split(",")


def test_a_word_wider_than_the_terminal_is_folded_all_the_same():
    pieces = fitted("      " + "算" * 100, 20).splitlines()
    assert all(len(piece.strip()) * 2 + len(piece) - len(piece.strip()) <= 20 for piece in pieces)
    assert "".join(piece.strip() for piece in pieces) == "算" * 100


def test_a_table_without_a_terminal_is_as_it_is():
    assert fitted("a\tb" * 100, None) == "a\tb" * 100


@pytest.mark.parametrize(("columns", "width"), [("100", 100), ("3", 40), ("0", None), ("wide", None)])
def test_columns_says_how_wide_it_is_where_there_is_no_terminal(monkeypatch, columns, width):
    monkeypatch.setattr("sys.__stdout__", open("/dev/null"))  # noqa: SIM115
    monkeypatch.setenv("COLUMNS", columns)
    assert screen_width() == width


def test_wide_characters_take_two_columns():
    assert text_table([{"op": "算子", "n": 1}], ("op", "n")) == "op    n\n----  -\n算子  1\n"


def test_control_characters_never_reach_the_terminal():
    table = text_table([{"op": "m\x1b[31mm", "status": "ok", "markers": {"A": 2}}], STATUS_SHOWN.names)
    assert "\x1b" not in table
    assert "m\\x1b[31mm" in table
    assert "A x2" in table


def test_a_table_without_rows_says_so():
    assert text_table([], STATUS_SHOWN.names) == "(nothing)\n"
