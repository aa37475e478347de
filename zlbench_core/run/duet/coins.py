"""The coins of a campaign: fair, fixed by its seed, and the same whenever they are asked for.

A coin is the lowest bit of sha256 over the JSON text ["zlbench duet", seed, op, round, what, ...]. So nothing
depends on the order in which coins are tossed, and anybody can toss them again.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace

SIDES = ("a", "b")
ORDERS = ("ABBA", "BAAB")


@dataclass(frozen=True)
class Coins:
    """The coins of one round of one operator."""

    seed: int
    op: str
    round: int

    def first_side(self) -> str:
        """The side whose process is launched first, loaded first, and first at each row.

        The coin is that of the odd round; the even round after it takes the other side. Where two processes' tensors
        lie depends on which of them came first, and on an H200 that moved a row by up to 1 % (docs/measurement.md):
        with free coins, five of six rounds can have the same side in front.
        """
        past_odd = (self.round - 1) % 2
        coin = replace(self, round=self.round - past_odd)._toss("first side")
        return SIDES[coin ^ past_odd]

    def order(self, key: str, occurrence: int, number: int, *, warm_up: bool = False) -> str:
        """The order of superblock `number` (from 0) of a row, in its warm-up or in what is recorded."""
        kind = "warm-up" if warm_up else "superblock"
        return ORDERS[self._toss(kind, key, occurrence, number)]

    def _toss(self, *what: str | int) -> int:
        text = json.dumps(["zlbench duet", self.seed, self.op, self.round, *what])
        return hashlib.sha256(text.encode()).digest()[-1] & 1
