"""Sides without a process: what they walk through is a list, and each of their times is made up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zlbench_core.campaign.parts import Duet
from zlbench_core.records import messages
from zlbench_core.run.duet.coins import Coins
from zlbench_core.run.duet.conductor import Conductor

NODE = "test_x.py::test_x"
Block = Callable[[str, str, dict[str, Any]], dict[str, Any]]


def settings(**changes: Any) -> Duet:
    values = {"superblocks": 4, "block_ms": 4.0, "discard": 2, "warm_up": 2, "seed": 7, "patience": 60.0}
    return Duet(**{**values, **changes})


def coins(op: str = "mm", number: int = 1, seed: int = 7) -> Coins:
    return Coins(seed, op, number)


def arrival(key: str, **changes: Any) -> dict[str, Any]:
    known = {"key": key, "occurrence": 0, "node": NODE, "label": f"row {key}", "estimate_ms": 1.0}
    return {"type": messages.ROW, **known, "graph": False, "refusal": None, **changes}


def steady(side: str, key: str, command: dict[str, Any]) -> dict[str, Any]:
    """A block of equal times: side b is 10% slower."""
    return {
        "type": messages.BLOCK,
        "samples_ms": [{"a": 1.0, "b": 1.1}[side]] * command["count"],
        "disturbed": None,
    }


class Walker:
    """One side: it goes through `steps` while it has the device, and keeps what became of each row.

    A step is the key of a row, or ("lost", key, reason), ("ended", node) or ("dies",).
    """

    def __init__(self, name: str, steps: list[Any], block: Block = steady, node: str = NODE) -> None:
        self.name, self.steps, self.block, self.node = name, list(steps), block, node
        self.results: dict[str, Any] = {}
        self.key: str | None = None
        self.stopped: str | None = None

    def answer(self, message: dict[str, Any]) -> list[dict[str, Any] | None]:
        """What it says until it hands the device back; None at its end is the end of its process."""
        kind = message["type"]
        if kind == messages.PREPARE:
            return [{"type": messages.PREPARED, "sample_ms": 1.0, "refusal": None}]
        if kind == messages.BLOCK:
            reply = self.block(self.name, self.key, message)
            return [reply, *self.walk()] if reply["type"] == messages.LOST else [reply]
        if kind in (messages.DONE, messages.LOST):
            self.results[self.key] = message.get("value_ms", message.get("reason"))
        return self.walk()

    def walk(self) -> list[dict[str, Any] | None]:
        said: list[dict[str, Any] | None] = []
        while self.steps:
            step = self.steps.pop(0)
            if isinstance(step, str):
                self.key = step
                return [*said, arrival(step, node=self.node)]
            if step[0] == "dies":
                return [*said, None]
            if step[0] == "lost":
                said.append({"type": messages.LOST, "key": step[1], "occurrence": 0, "reason": step[2]})
            else:
                said.append({"type": messages.NODE_ENDED, "node": step[1]})
        return [*said, {"type": messages.BYE}, None]


def play(a: Walker, b: Walker, conductor: Conductor | None = None, hello: str = "ab") -> Conductor:
    """Let both sides walk until the pair has ended. Fails where two sides run at once and do not load, or nobody
    can go on."""
    conductor = conductor or Conductor(settings(), coins())
    walkers = {"a": a, "b": b}
    running: list[tuple[str, dict[str, Any]]] = []
    for name in hello:
        running += conductor.receive(name, {"type": messages.HELLO, "side": name, "pid": 1})
    for _ in range(10_000):
        for name, message in [order for order in running if order[1]["type"] == messages.STOP]:
            walkers[name].stopped = message["reason"]
        if conductor.finished:
            return conductor
        loading = all(message["type"] == messages.GO for _, message in running)
        assert len(running) == 1 or (running and loading), f"one side at a time: {running}"
        (name, message), running = running[0], running[1:]
        granted: list[tuple[str, dict[str, Any]]] = []
        for said in walkers[name].answer(message):
            assert not granted, "it said more after it had handed the device back"
            granted += conductor.gone(name) if said is None else conductor.receive(name, said)
        running += granted
    raise AssertionError("the pair does not end")
