"""One row that both sides are at: who is told what, in which order, and what comes of it.

A generator, so that a row reads from top to bottom: it yields (side, command) and is sent the side's reply.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from zlbench_core.campaign.parts import Duet
from zlbench_core.records import messages
from zlbench_core.records.messages import DIRECT, GRAPH
from zlbench_core.records.superblock import block_centre
from zlbench_core.run.duet.coins import SIDES, Coins
from zlbench_core.run.duet.sizes import Block, block_of, enlarged, launches_per_sample, superblocks_of

STEADY = 0.01  # both sides' levels moved by less than 1% from one superblock to the next
CAPTURES = 4  # of one row at most
IMPOSSIBLE = "a time that is not positive and finite"

Steps = Generator[tuple[str, messages.Message], messages.Message, dict[str, messages.Message]]


@dataclass(frozen=True)
class Arrival:
    """What a side says of the row that it has come to; `estimate_ms` of one launch, direct."""

    key: str
    occurrence: int
    node: str
    label: str
    estimate_ms: float
    graph: bool
    refusal: str | None

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> Arrival:
        return cls(**{name: message[name] for name in cls.__dataclass_fields__})

    @property
    def name(self) -> tuple[str, int]:
        return self.key, self.occurrence


@dataclass(frozen=True)
class Way:
    """How both sides sample the row; `fallback` names the side that cannot be captured, and why."""

    way: str
    launches: int
    sample_ms: float
    fallback: str | None


@dataclass
class Recorded:
    """The log of each side's block centres (in ms) by superblock, and why a superblock does not count."""

    orders: list[str] = field(default_factory=list)
    void: list[str | None] = field(default_factory=list)
    logs: dict[str, list[float]] = field(default_factory=lambda: {side: [] for side in SIDES})

    def add(self, order: str, void: str | None, logs: Mapping[str, Sequence[float]]) -> None:
        self.orders.append(order)
        self.void.append(void)
        for side in SIDES if void is None else ():
            self.logs[side] += logs[side]

    @property
    def valid(self) -> int:
        return sum(reason is None for reason in self.void)

    def value_ms(self, side: str) -> float:
        """exp of the mean log centre. So log(B / A) of the two sides is the mean of the superblocks' z."""
        return math.exp(math.fsum(self.logs[side]) / len(self.logs[side]))


def perform(settings: Duet, coins: Coins, sides: Sequence[str], arrivals: Mapping[str, Arrival]) -> Steps:
    """The steps of one row, and at its end what each side is told: DONE with its value, or LOST.

    `sides` is the order of what is not timed: the side that was launched first goes first.
    """
    way = yield from _prepare(sides, arrivals)
    block = block_of(settings, way.sample_ms)
    row = next(iter(arrivals.values()))
    warmed = yield from _warm_up(settings, coins, row, block)
    recorded = Recorded()
    for number in range(superblocks_of(settings, block, way.sample_ms)):
        order = coins.order(row.key, row.occurrence, number)
        void, logs = yield from _superblock(order, block, number)
        recorded.add(order, void, logs)
    return _answers(recorded, warmed)


def _prepare(sides: Sequence[str], arrivals: Mapping[str, Arrival]) -> Generator[Any, Any, Way]:
    """Both sides sample alike: in graphs where both can, else both directly."""
    estimate_ms = max(arrival.estimate_ms for arrival in arrivals.values())
    refused = {side: arrival.refusal for side, arrival in arrivals.items() if arrival.refusal}
    if all(arrival.graph for arrival in arrivals.values()):
        launches, replies = yield from _capture(sides, launches_per_sample(GRAPH, estimate_ms))
        refused = _refusals(replies)
        if not refused:
            return Way(GRAPH, launches, _slower(replies), None)
    fallback = "; ".join(f"side {side}: {reason}" for side, reason in sorted(refused.items())) or None
    launches = launches_per_sample(DIRECT, estimate_ms)
    replies = yield from _ask(sides, messages.PREPARE, way=DIRECT, launches=launches, fallback=fallback)
    return Way(DIRECT, launches, _slower(replies), fallback)


def _capture(
    sides: Sequence[str], launches: int
) -> Generator[Any, Any, tuple[int, dict[str, messages.Message]]]:
    """Capture on both sides, again with more launches while the graphs turn out short; stops where one refuses."""
    for capture in range(1, CAPTURES + 1):
        replies = yield from _ask(sides, messages.PREPARE, way=GRAPH, launches=launches, fallback=None)
        more = launches if _refusals(replies) else enlarged(launches, _slower(replies))
        if more == launches or capture == CAPTURES:
            break
        launches = more
    return launches, replies


def _refusals(replies: Mapping[str, messages.Message]) -> dict[str, str]:
    return {side: reply["refusal"] for side, reply in replies.items() if reply["refusal"]}


def _ask(sides: Sequence[str], kind: str, **what: Any) -> Generator[Any, Any, dict[str, messages.Message]]:
    replies = {}
    for side in sides:
        replies[side] = yield side, {"type": kind, **what}
    return replies


def _slower(replies: Mapping[str, messages.Message]) -> float:
    return max(float(reply["sample_ms"]) for reply in replies.values())


def _warm_up(settings: Duet, coins: Coins, row: Arrival, block: Block) -> Generator[Any, Any, int]:
    """Superblocks that are not recorded, until neither side's level moves; how many there were."""
    before: dict[str, float] | None = None
    for number in range(settings.warm_up):
        order = coins.order(row.key, row.occurrence, number, warm_up=True)
        void, logs = yield from _superblock(order, block, None)
        now = None if void else {side: math.fsum(values) / 2 for side, values in logs.items()}
        if now and before and all(abs(now[side] - before[side]) <= STEADY for side in SIDES):
            return number + 1
        before = now
    return settings.warm_up


def _superblock(
    order: str, block: Block, number: int | None
) -> Generator[Any, Any, tuple[str | None, dict[str, list[float]]]]:
    """Four blocks. One that was disturbed voids all four; `number` None is warm-up."""
    logs: dict[str, list[float]] = {side: [] for side in SIDES}
    reasons = []
    for place, letter in enumerate(order):
        side = letter.lower()
        command = {"superblock": number, "place": place, "discard": block.discard, "count": block.count}
        reply = yield side, {"type": messages.BLOCK, **command}
        centre = block_centre(reply["samples_ms"])
        if reply["disturbed"] or centre is None:
            reasons.append(f"side {side}: {reply['disturbed'] or IMPOSSIBLE}")
        else:
            logs[side].append(math.log(centre))
    return "; ".join(dict.fromkeys(reasons)) or None, logs


def _answers(recorded: Recorded, warmed: int) -> dict[str, messages.Message]:
    """A row of which half the superblocks are void was not measured (docs/verdicts.md)."""
    total = len(recorded.orders)
    if not recorded.valid or 2 * recorded.valid < total:
        why = next(reason for reason in recorded.void if reason)
        reason = f"{total - recorded.valid} of {total} superblocks are void: {why}"
        return {side: {"type": messages.LOST, "reason": reason} for side in SIDES}
    told = {"orders": recorded.orders, "void": recorded.void, "warm_up": warmed}
    return {side: {"type": messages.DONE, "value_ms": recorded.value_ms(side), **told} for side in SIDES}
