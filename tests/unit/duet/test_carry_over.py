from __future__ import annotations

import sys
from itertools import pairwise

import pytest

from tests import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))


import h200_carry_over


def test_the_carry_over_is_the_mean_excess_over_the_later_samples_of_each_block() -> None:
    blocks = [[2.0, 1.2, *[1.0] * 38], [8.0, 2.4, *[2.0] * 38]]
    over = h200_carry_over.excess(blocks)
    assert over == pytest.approx([2.0, 0.2, *[0.0] * 8])
    assert h200_carry_over.settled(over) == 2


def test_a_late_bump_is_not_settled_before_it() -> None:
    assert h200_carry_over.settled([0.5, 0.0, 0.02, 0.0]) == 3
    assert h200_carry_over.settled([0.0] * 4) == 0


def test_only_blocks_whose_device_was_the_other_sides_count() -> None:
    class Side:
        def __init__(self, name: str) -> None:
            self.name, self.calls = name, 0

        def block(self, kernel: str, way: str) -> list[str]:
            self.calls += 1
            return [self.name]

    sides = {"A": Side("A"), "B": Side("B")}
    taken = [name for (name,) in h200_carry_over.blocks_after_a_hand_over(sides, "mm", "graph")]
    assert sides["A"].calls == sides["B"].calls == 2 * h200_carry_over.SUPERBLOCKS
    assert all(one != other for one, other in pairwise(taken))
