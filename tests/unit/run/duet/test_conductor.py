from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.run.duet.duet_fakes import NODE, Walker, arrival, coins, play, settings, steady
from zlbench_core.records import messages
from zlbench_core.run.duet.conductor import Conductor

FIRST_A, FIRST_B = coins(number=1), coins(number=2)


def measured(walker: Walker) -> list[str]:
    return [key for key, result in walker.results.items() if isinstance(result, float)]


def hello(name: str) -> dict[str, Any]:
    return {"type": messages.HELLO, "side": name, "pid": 1}


def test_the_coins_used_here_fall_both_ways() -> None:
    assert (FIRST_A.first_side(), FIRST_B.first_side()) == ("a", "b")


def test_rows_that_both_sides_have_are_measured_on_both() -> None:
    a, b = Walker("a", ["1", "2", "3"]), Walker("b", ["1", "2", "3"])
    conductor = play(a, b)
    assert conductor.failure is None
    assert a.results == {"1": 1.0, "2": 1.0, "3": 1.0}
    assert list(b.results.values()) == pytest.approx([1.1, 1.1, 1.1])


@pytest.mark.parametrize("arrive", ["ab", "ba"])
@pytest.mark.parametrize("toss", [FIRST_A, FIRST_B])
def test_the_side_of_the_coin_loads_first_whoever_connects_first(toss: Any, arrive: str) -> None:
    conductor = Conductor(settings(), toss)
    orders = [order for name in arrive for order in conductor.receive(name, hello(name))]
    assert conductor.order[0] == toss.first_side()
    assert orders == [(name, {"type": messages.GO}) for name in conductor.order]


def test_nothing_is_timed_before_both_sides_are_at_a_row() -> None:
    conductor = Conductor(settings(), FIRST_A)
    for name in "ab":
        conductor.receive(name, hello(name))
    assert conductor.receive("a", arrival("1")) == []
    [(name, command)] = conductor.receive("b", arrival("1"))
    assert command["type"] == messages.PREPARE
    assert name == "a"


@pytest.mark.parametrize("loser", ["a", "b"])
def test_a_row_that_is_announced_as_lost_is_lost_alone_with_its_reason_on_both_sides(loser: str) -> None:
    whole = ["1", "2", "3", "4"]
    broken = ["1", ("lost", "2", "wrong result"), "3", "4"]
    sides = {name: Walker(name, broken if name == loser else whole) for name in "ab"}
    play(sides["a"], sides["b"])
    other = sides["b" if loser == "a" else "a"]
    assert other.results["2"] == f"side {loser}: wrong result"
    assert measured(sides["a"]) == measured(sides["b"]) == ["1", "3", "4"]


@pytest.mark.parametrize("loser", ["a", "b"])
@pytest.mark.parametrize("after", [0, 1, 5])
def test_a_side_that_fails_in_the_middle_of_its_row_loses_it_for_both(loser: str, after: int) -> None:
    seen: list[str] = []

    def block(side: str, key: str, command: dict[str, Any]) -> dict[str, Any]:
        if side == loser and key == "2":
            seen.append(key)
            if len(seen) > after:
                return {"type": messages.LOST, "key": key, "occurrence": 0, "reason": "illegal address"}
        return steady(side, key, command)

    a, b = Walker("a", ["1", "2", "3"], block), Walker("b", ["1", "2", "3"], block)
    play(a, b)
    assert (b if loser == "a" else a).results["2"] == f"side {loser}: illegal address"
    assert measured(a) == measured(b) == ["1", "3"]


@pytest.mark.parametrize("shorter", ["a", "b"])
def test_a_row_of_a_test_that_the_partner_has_ended_is_lost_and_the_next_test_is_measured(
    shorter: str,
) -> None:
    class Tests(Walker):
        def walk(self) -> list[dict[str, Any] | None]:
            said = super().walk()
            for message in said:
                if message is not None and message["type"] == messages.ROW:
                    message["node"] = "one" if message["key"].startswith("1") else "two"
            return said

    rows = {"long": ["1a", "1b", "1c", ("ended", "one"), "2a"], "short": ["1a", ("ended", "one"), "2a"]}
    sides = {name: Tests(name, rows["short" if name == shorter else "long"]) for name in "ab"}
    play(sides["a"], sides["b"])
    longer = sides["b" if shorter == "a" else "a"]
    assert measured(sides["a"]) == measured(sides["b"]) == ["1a", "2a"]
    assert longer.results["1b"] == f"side {shorter} ended this test without the row"


@pytest.mark.parametrize("lacks", ["a", "b"])
def test_a_row_that_one_side_never_comes_to_costs_at_most_one_more(lacks: str) -> None:
    rows = [str(number) for number in range(1, 9)]
    sides = {name: Walker(name, [row for row in rows if name != lacks or row != "3"]) for name in "ab"}
    play(sides["a"], sides["b"])
    assert measured(sides["a"]) == measured(sides["b"])
    assert set(rows) - set(measured(sides["a"])) <= {"3", "4"}


@given(st.lists(st.booleans(), min_size=12, max_size=12), st.lists(st.booleans(), min_size=12, max_size=12))
def test_whatever_is_announced_every_row_that_both_have_is_measured(
    a_has: list[bool], b_has: list[bool]
) -> None:
    def steps(has: list[bool]) -> list[Any]:
        return [str(n) if here else ("lost", str(n), "gone") for n, here in enumerate(has)]

    a, b = Walker("a", steps(a_has)), Walker("b", steps(b_has))
    play(a, b)
    both = [str(n) for n in range(12) if a_has[n] and b_has[n]]
    assert measured(a) == measured(b) == both
    assert all(isinstance(result, str) for key, result in a.results.items() if key not in both)


@given(st.sets(st.integers(0, 19), max_size=4), st.sets(st.integers(0, 19), max_size=4))
def test_unannounced_gaps_never_pair_two_rows_and_cost_at_most_twice_their_number(
    a_lacks: set[int], b_lacks: set[int]
) -> None:
    def steps(lacks: set[int]) -> list[str]:
        return [str(n) for n in range(20) if n not in lacks]

    seen: list[tuple[str, str]] = []

    def block(side: str, key: str, command: dict[str, Any]) -> dict[str, Any]:
        seen.append((side, key))
        return steady(side, key, command)

    a, b = Walker("a", steps(a_lacks), block), Walker("b", steps(b_lacks), block)
    conductor = play(a, b)
    assert conductor.failure is None
    assert measured(a) == measured(b)
    for start in range(0, len(seen), 4):
        assert len({key for _, key in seen[start : start + 4]}) == 1
    gaps = len(a_lacks ^ b_lacks)
    assert len(measured(a)) >= 20 - len(a_lacks | b_lacks) - 2 * gaps


@pytest.mark.parametrize("dead", ["a", "b"])
@pytest.mark.parametrize(
    ("steps", "where"), [([("dies",)], "before its first row"), (["1", ("dies",)], "at row row 1")]
)
def test_a_side_that_dies_ends_the_pair_and_the_partner_is_told_who(
    dead: str, steps: list[Any], where: str
) -> None:
    sides = {name: Walker(name, steps if name == dead else ["1", "2"]) for name in "ab"}
    conductor = play(sides["a"], sides["b"])
    assert conductor.failure == f"side {dead} died {where}"
    assert conductor.culprit == dead
    assert sides["b" if dead == "a" else "a"].stopped in (conductor.failure, None)
    assert sides[dead].stopped is None


def test_a_side_that_is_killed_while_it_waits_is_noticed_as_well() -> None:
    conductor = Conductor(settings(), FIRST_A)
    conductor.receive("a", hello("a"))
    conductor.receive("b", hello("b"))
    conductor.receive("a", arrival("1"))
    assert conductor.gone("a") == [("b", {"type": messages.STOP, "reason": "side a died at row row 1"})]


def test_a_side_that_ends_well_leaves_the_others_rows_lost_and_no_failure() -> None:
    a, b = Walker("a", ["1"]), Walker("b", ["1", "2", "3"])
    conductor = play(a, b)
    assert conductor.failure is None
    assert measured(b) == ["1"]
    assert b.results["3"] == "side a has ended"


@pytest.mark.parametrize(
    ("before", "culprit", "reason"),
    [
        ([], "a", "side a hangs: no word for 60 s before its first row"),
        ([("b", hello("b"))], "a", "side a hangs: no word for 60 s before its first row"),
        (
            [("a", hello("a")), ("a", arrival("1"))],
            "b",
            "side b hangs: no word for 60 s before its first row",
        ),
        (
            [("a", hello("a")), ("b", hello("b")), ("a", arrival("1")), ("b", arrival("1"))],
            "a",
            "side a hangs: no word for 60 s at row row 1",
        ),
    ],
)
def test_who_hangs_is_who_has_the_device_or_who_never_came(before: Any, culprit: str, reason: str) -> None:
    conductor = Conductor(settings(), FIRST_A)
    for name, message in before:
        conductor.receive(name, message)
    conductor.overdue()
    assert (conductor.culprit, conductor.failure) == (culprit, reason)


@pytest.mark.parametrize(
    "message",
    [
        {"type": "nonsense"},
        {"type": messages.ROW, "key": "1"},
        {"type": messages.BLOCK, "samples_ms": [1.0], "disturbed": None},
        {"type": messages.HELLO, "side": "a", "pid": 2},
    ],
)
def test_a_message_that_does_not_fit_ends_the_pair(message: dict[str, Any]) -> None:
    conductor = Conductor(settings(), FIRST_A)
    conductor.receive("a", hello("a"))
    conductor.receive("a", message)
    assert conductor.failure.startswith("side a said what nobody expected")


def test_a_word_from_the_side_whose_turn_it_is_not_ends_the_pair() -> None:
    conductor = Conductor(settings(), FIRST_A)
    conductor.receive("a", hello("a"))
    conductor.receive("b", hello("b"))
    for name in "ab":
        conductor.receive(name, arrival("1", node=NODE))
    conductor.receive("b", arrival("2", node=NODE))
    assert conductor.failure.startswith(
        "side b said what nobody expected (ValueError: it is waiting, not running)"
    )
