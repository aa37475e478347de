from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.run.duet.duet_fakes import arrival, coins, settings
from zlbench_core.records import messages
from zlbench_core.records.superblock import Superblock, superblock_log_ratio
from zlbench_core.run.duet.row_plan import Arrival, perform

Command = dict[str, Any]


def at_row(**changes: Any) -> dict[str, Arrival]:
    return {side: Arrival.of(arrival("row", **changes.get(side, {}))) for side in "ab"}


def drive(
    reply: Callable[[str, Command], dict[str, Any]],
    arrivals: dict[str, Arrival] | None = None,
    sides: str = "ab",
    **changes: Any,
) -> tuple[list[tuple[str, Command]], dict[str, Any]]:
    """All commands of a row, and what both sides are told at its end."""
    steps = perform(settings(**changes), coins(), tuple(sides), arrivals or at_row())
    told: list[tuple[str, Command]] = []
    answer = None
    try:
        while True:
            told.append(steps.send(answer))
            side, command = told[-1]
            if command["type"] == messages.PREPARE:
                answer = {"type": messages.PREPARED, "sample_ms": 1.0, "refusal": None}
            else:
                answer = {"type": messages.BLOCK, "samples_ms": [1.0] * command["count"], "disturbed": None}
            answer |= reply(side, command)
    except StopIteration as end:
        return told, end.value


def blocks(told: list[tuple[str, Command]]) -> list[tuple[str, Command]]:
    return [(side, command) for side, command in told if command["type"] == messages.BLOCK]


def drifting() -> Callable[[str, Command], dict[str, Any]]:
    """Noise, ticks and a drift: nothing that the arithmetic could find easy."""
    noise, clock = random.Random(3), [0.0]

    def reply(side: str, command: Command) -> dict[str, Any]:
        if command["type"] != messages.BLOCK:
            return {}
        clock[0] += 0.01
        level = {"a": 1.0, "b": 1.007}[side] * (1 + clock[0])
        return {
            "samples_ms": [round(level * noise.lognormvariate(0, 0.02), 4) for _ in range(command["count"])]
        }

    return reply


@pytest.mark.parametrize("superblocks", [2, 5, 12])
def test_log_b_over_a_of_the_values_is_the_round_of_the_verdicts_exactly(superblocks: int) -> None:
    samples: dict[int, list[tuple[float, ...]]] = {}
    reply = drifting()

    def kept(side: str, command: Command) -> dict[str, Any]:
        said = reply(side, command)
        if command.get("superblock") is not None:
            samples.setdefault(command["superblock"], []).append(tuple(said["samples_ms"]))
        return said

    _, answers = drive(kept, superblocks=superblocks)
    orders = answers["a"]["orders"]
    found = [superblock_log_ratio(Superblock(order, tuple(samples[k]))) for k, order in enumerate(orders)]
    y = math.log(answers["b"]["value_ms"] / answers["a"]["value_ms"])
    assert len(found) == superblocks
    assert y == pytest.approx(statistics.fmean(found), abs=1e-13)


def test_a_drift_that_is_linear_in_time_cancels_whatever_the_coins_say() -> None:
    clock = [0.0]

    def reply(side: str, command: Command) -> dict[str, Any]:
        if command["type"] != messages.BLOCK:
            return {}
        clock[0] += 1.0
        return {"samples_ms": [math.exp(0.05 * clock[0]) * {"a": 1.0, "b": 1.02}[side]] * command["count"]}

    _, answers = drive(reply)
    assert answers["b"]["value_ms"] / answers["a"]["value_ms"] == pytest.approx(1.02, rel=1e-12)


def test_the_orders_are_the_logged_coins_and_every_side_runs_when_they_say() -> None:
    told, answers = drive(lambda side, command: {}, superblocks=6)
    assert answers["a"]["orders"] == [coins().order("row", 0, number) for number in range(6)]
    recorded = [side for side, command in blocks(told) if command["superblock"] is not None]
    assert "".join(recorded) == "".join(answers["a"]["orders"]).lower()
    assert {command["discard"] for _, command in blocks(told)} == {2}
    assert len({command["count"] for _, command in blocks(told)}) == 1


@pytest.mark.parametrize("side", ["a", "b"])
def test_one_disturbed_block_voids_its_whole_superblock_on_both_sides(side: str) -> None:
    def reply(who: str, command: Command) -> dict[str, Any]:
        if command.get("superblock") != 1:
            return {}
        hot = who == side and command["place"] in (1, 3)
        return {"samples_ms": [9.0] * command["count"], "disturbed": "hw_slowdown" if hot else None}

    _, answers = drive(reply)
    assert answers["a"]["void"] == answers["b"]["void"] == [None, f"side {side}: hw_slowdown", None, None]
    assert answers["a"]["value_ms"] == answers["b"]["value_ms"] == 1.0


def test_a_time_that_cannot_be_voids_like_a_throttled_one() -> None:
    _, answers = drive(
        lambda who, command: (
            {"samples_ms": [0.0] * command["count"]} if command.get("superblock") == 0 else {}
        )
    )
    assert answers["a"]["void"][0].startswith("side ")
    assert "not positive and finite" in answers["a"]["void"][0]


def test_a_row_with_fewer_than_half_of_its_superblocks_is_lost_for_both() -> None:
    _, answers = drive(
        lambda who, command: {"disturbed": "hw_slowdown" if command.get("superblock") in (0, 1, 2) else None}
    )
    assert answers["a"] == answers["b"]
    assert answers["a"]["type"] == messages.LOST
    assert answers["a"]["reason"].startswith("3 of 4 superblocks are void: side ")
    assert answers["a"]["reason"].endswith("hw_slowdown")


def test_both_sides_sample_in_graphs_only_where_both_can() -> None:
    told, _ = drive(lambda side, command: {}, at_row(a={"graph": True}, b={"graph": True}))
    ways = [(side, command["way"]) for side, command in told if command["type"] == messages.PREPARE]
    assert ways == [("a", "graph"), ("b", "graph")]


def test_where_one_side_refuses_the_capture_both_go_direct_and_both_are_told_why() -> None:
    def reply(side: str, command: Command) -> dict[str, Any]:
        refuses = side == "b" and command.get("way") == "graph"
        return {"sample_ms": None, "refusal": "legacy stream"} if refuses else {}

    told, answers = drive(reply, at_row(a={"graph": True}, b={"graph": True}))
    prepared = [
        (side, command["way"], command["fallback"])
        for side, command in told
        if command["type"] == messages.PREPARE
    ]
    assert prepared == [
        ("a", "graph", None),
        ("b", "graph", None),
        ("a", "direct", "side b: legacy stream"),
        ("b", "direct", "side b: legacy stream"),
    ]
    assert answers["a"]["type"] == messages.DONE


def test_a_denied_side_costs_no_capture_at_all() -> None:
    told, _ = drive(
        lambda side, command: {}, at_row(a={"graph": True}, b={"graph": False, "refusal": "denied"})
    )
    assert [command["fallback"] for _, command in told if command["type"] == messages.PREPARE] == [
        "side b: denied"
    ] * 2


def test_what_is_launched_is_decided_by_the_slower_side_for_both() -> None:
    def reply(side: str, command: Command) -> dict[str, Any]:
        return {"sample_ms": {"a": 0.5, "b": 2.0}[side]} if command["type"] == messages.PREPARE else {}

    told, _ = drive(reply, at_row(a={"estimate_ms": 0.001}, b={"estimate_ms": 0.005}))
    assert {command["launches"] for _, command in told if command["type"] == messages.PREPARE} == {50}
    assert {command["count"] for _, command in blocks(told)} == {3}


def test_the_side_that_was_launched_first_prepares_first() -> None:
    told, _ = drive(lambda side, command: {}, sides="ba")
    assert [side for side, command in told if command["type"] == messages.PREPARE] == ["b", "a"]


def test_the_warm_up_ends_when_both_sides_are_steady_and_is_not_recorded() -> None:
    levels = iter([2.0] * 4 + [1.5] * 4 + [1.0] * 1000)

    def reply(side: str, command: Command) -> dict[str, Any]:
        return {"samples_ms": [next(levels)] * command["count"]} if command["type"] == messages.BLOCK else {}

    told, answers = drive(reply, warm_up=9)
    assert answers["a"]["warm_up"] == 4
    assert answers["a"]["value_ms"] == 1.0
    assert sum(command["superblock"] is None for _, command in blocks(told)) == 16


def test_the_warm_up_is_bounded_where_nothing_gets_steady() -> None:
    clock = [1.0]

    def reply(side: str, command: Command) -> dict[str, Any]:
        clock[0] *= 1.1
        return {"samples_ms": [clock[0]] * command["count"]} if command["type"] == messages.BLOCK else {}

    _, answers = drive(reply, warm_up=3)
    assert answers["a"]["warm_up"] == 3


def test_a_graph_that_is_shorter_than_its_launchs_estimate_is_captured_again_with_more() -> None:
    """On an H200 the host took 0.3 ms to launch a 4 us kernel, so that the estimate was the host's."""

    def reply(side: str, command: Command) -> dict[str, Any]:
        return {"sample_ms": 0.005 * command["launches"]} if command["type"] == messages.PREPARE else {}

    told, answers = drive(
        reply, at_row(a={"graph": True, "estimate_ms": 0.3}, b={"graph": True, "estimate_ms": 0.4})
    )
    prepared = [command["launches"] for _, command in told if command["type"] == messages.PREPARE]
    assert prepared == [1, 1, 50, 50]
    assert answers["a"]["type"] == messages.DONE


def test_a_graph_whose_start_is_most_of_its_time_is_captured_until_its_launches_are() -> None:
    """On an H200 the graph of one 1.6 us launch took 23 us, and the next one, of 11 launches, 37 us."""

    def reply(side: str, command: Command) -> dict[str, Any]:
        return (
            {"sample_ms": 0.02 + 0.0016 * command["launches"]} if command["type"] == messages.PREPARE else {}
        )

    told, _ = drive(
        reply, at_row(a={"graph": True, "estimate_ms": 0.3}, b={"graph": True, "estimate_ms": 0.3})
    )
    launches = [command["launches"] for _, command in told if command["type"] == messages.PREPARE][::2]
    assert launches == [1, 12, 77]


def test_a_refusal_of_the_larger_graph_is_a_refusal() -> None:
    def reply(side: str, command: Command) -> dict[str, Any]:
        if command["type"] != messages.PREPARE or command["way"] != "graph":
            return {}
        refused = side == "a" and command["launches"] > 1
        return {"sample_ms": None, "refusal": "out of graph memory"} if refused else {"sample_ms": 0.005}

    told, _ = drive(
        reply, at_row(a={"graph": True, "estimate_ms": 0.3}, b={"graph": True, "estimate_ms": 0.3})
    )
    last = [command for _, command in told if command["type"] == messages.PREPARE][-1]
    assert (last["way"], last["fallback"]) == ("direct", "side a: out of graph memory")
