"""Who may use the device now, and which rows of the two sides belong together. No sockets and no clock here.

Both sides load at once, since nothing is timed before both have come to a row. From then on at most one runs: it hands
the device back by a message, or by ending; then `_next` decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from zlbench_core.campaign.parts import Duet
from zlbench_core.records import messages
from zlbench_core.run.duet.coins import SIDES, Coins
from zlbench_core.run.duet.row_plan import Arrival, Steps, perform

ABSENT, WAITING, RUNNING, GONE = "absent", "waiting", "running", "gone"

Orders = list[tuple[str, messages.Message]]


@dataclass
class Side:
    """One side as the coordinator knows it. `answer`: what it is told as soon as the device is free."""

    name: str
    stage: str = ABSENT
    answer: messages.Message | None = None
    arrival: Arrival | None = None
    row: str | None = None  # the last row that it came to
    said_bye: bool = False
    ended_nodes: set[str] = field(default_factory=set)
    lost: dict[tuple[str, int], str] = field(default_factory=dict)  # rows that it lost itself, and why
    passed: set[tuple[str, int]] = field(default_factory=set)  # rows that were given up without a partner


class Conductor:
    def __init__(self, settings: Duet, coins: Coins) -> None:
        self.settings, self.coins = settings, coins
        first = coins.first_side()
        self.order = (first, *(name for name in SIDES if name != first))
        self.sides = {name: Side(name) for name in SIDES}
        self.failure: str | None = None
        self.culprit: str | None = None
        self._steps: Steps | None = None
        self._command: tuple[str, messages.Message] | None = None
        self._given_up = SIDES[1]  # the side whose row was last given up without knowing whether it had to be

    @property
    def finished(self) -> bool:
        return self.failure is not None or all(side.stage == GONE for side in self.sides.values())

    def receive(self, name: str, message: messages.Message) -> Orders:
        """What a side says, and whom that lets go on. A message that does not fit ends the pair."""
        if self.finished:
            return []
        side = self.sides[name]
        try:
            self._take(side, message)
        except (KeyError, TypeError, ValueError) as error:
            return self.fail(name, f"said what nobody expected ({type(error).__name__}: {error})")
        return self._next()

    def gone(self, name: str) -> Orders:
        """A side's process or connection has ended; without a goodbye that ends the pair."""
        side = self.sides[name]
        if side.stage == GONE or self.finished:
            return []
        side.stage = GONE
        return self._next() if side.said_bye else self.fail(name, "died")

    def overdue(self) -> Orders:
        """The patience is over: the side that runs hangs, or the one that never came."""
        slow = next((side for side in self.sides.values() if side.stage == RUNNING), None)
        slow = slow or next((side for side in self.sides.values() if side.stage == ABSENT), None)
        name = slow.name if slow else self.order[0]
        return self.fail(name, f"hangs: no word for {self.settings.patience:g} s")

    def fail(self, name: str, what: str) -> Orders:
        """End the pair; every side that can still listen is told why."""
        side = self.sides[name]
        where = f" at row {side.row}" if side.row else " before its first row"
        self.failure, self.culprit = f"side {name} {what}{where}", name
        self._steps = None
        told = [other for other in self.sides.values() if other.stage in (WAITING, RUNNING)]
        return [(other.name, {"type": messages.STOP, "reason": self.failure}) for other in told]

    def _take(self, side: Side, message: messages.Message) -> None:
        kind = message["type"]
        if kind == messages.HELLO:
            self._expect(side, ABSENT)
            side.stage, side.answer = WAITING, {"type": messages.GO}
            return
        self._expect(side, RUNNING)
        if kind == messages.LOST:
            self._lose(side, (message["key"], message["occurrence"]), str(message["reason"]))
        elif kind == messages.NODE_ENDED:
            side.ended_nodes.add(message["node"])
        elif kind == messages.BYE:
            side.said_bye = True
        elif kind == messages.ROW:
            side.arrival = Arrival.of(message)
            side.stage, side.row = WAITING, side.arrival.label
        elif kind in (messages.PREPARED, messages.BLOCK):
            side.stage = WAITING
            self._advance(message)
        else:
            raise ValueError(f"message {kind!r}")

    def _expect(self, side: Side, stage: str) -> None:
        if side.stage != stage:
            raise ValueError(f"it is {side.stage}, not {stage}")

    def _lose(self, side: Side, row: tuple[str, int], reason: str) -> None:
        """The side failed at a row; a partner that is in the same row will be told once it is its turn."""
        side.lost[row] = f"side {side.name}: {reason}"
        if self._steps is None or side.arrival is None or side.arrival.name != row:
            return
        self._steps, self._command = None, None
        for other in self.sides.values():
            other.arrival = None
            if other is not side:
                other.answer = _lost(side.lost[row])

    def _advance(self, reply: messages.Message | None) -> None:
        """Let the row go on with a reply; at its end both sides have their answer."""
        if self._steps is None:
            raise ValueError("there is no row")
        try:
            self._command = next(self._steps) if reply is None else self._steps.send(reply)
        except StopIteration as end:
            self._steps, self._command = None, None
            for name, answer in end.value.items():
                self.sides[name].answer, self.sides[name].arrival = answer, None

    def _next(self) -> Orders:
        """Give the device to somebody, if it is free and somebody can go on."""
        if self.failure:
            return []
        loading = self._load()
        if loading or any(side.stage == RUNNING for side in self.sides.values()):
            return loading
        if self._command is not None:
            (name, command), self._command = self._command, None
            return self._run(name, command)
        for name in self.order:
            side = self.sides[name]
            if side.stage == ABSENT:
                break  # the side that is to load first has not come yet
            if side.answer is not None:
                answer, side.answer = side.answer, None
                return self._run(name, answer)
        return self._match()

    def _load(self) -> Orders:
        """The sides that may begin to load, the side of the coin before the other."""
        orders: Orders = []
        for name in self.order:
            side = self.sides[name]
            if side.stage == ABSENT:
                break
            if side.answer == {"type": messages.GO}:
                side.answer = None
                orders += self._run(name, {"type": messages.GO})
        return orders

    def _run(self, name: str, message: messages.Message) -> Orders:
        self.sides[name].stage = RUNNING
        return [(name, message)]

    def _match(self) -> Orders:
        arrivals = {name: at for name in self.order if (at := self.sides[name].arrival) is not None}
        if len(arrivals) == 2 and len({arrival.name for arrival in arrivals.values()}) == 1:
            self._steps = perform(self.settings, self.coins, self.order, arrivals)
            self._advance(None)
            return self._next()
        for name, arrival in arrivals.items():
            reason = self._without_partner(name, arrival)
            if reason is not None:
                return self._give_up(name, arrival, reason)
        return self._give_up_one_of_two(arrivals) if len(arrivals) == 2 else []

    def _without_partner(self, name: str, arrival: Arrival) -> str | None:
        """Why the row of side `name` surely has no partner; None where it may still come."""
        other = self.sides[next(one for one in SIDES if one != name)]
        if arrival.name in other.lost:
            return other.lost[arrival.name]
        if arrival.name in other.passed:
            return f"side {other.name} had come to this row when side {name} was at another"
        if arrival.node in other.ended_nodes:
            return f"side {other.name} ended this test without the row"
        return f"side {other.name} has ended" if other.stage == GONE else None

    def _give_up_one_of_two(self, arrivals: Mapping[str, Arrival]) -> Orders:
        """Both sides are at rows that the other may have lost or may still come to. They take turns in giving
        up, so that k rows that only one side has cost at most 2 k rows until both meet again."""
        other, self._given_up = self._given_up, next(name for name in SIDES if name != self._given_up)
        reason = f"side {other} came to {arrivals[other].label} instead"
        return self._give_up(self._given_up, arrivals[self._given_up], reason)

    def _give_up(self, name: str, arrival: Arrival, reason: str) -> Orders:
        side = self.sides[name]
        side.passed.add(arrival.name)
        side.arrival = None
        return self._run(name, _lost(reason))


def _lost(reason: str) -> dict[str, Any]:
    return {"type": messages.LOST, "reason": reason}
