"""Verdicts where the side that was launched first has an advantage: free coins, coins balanced in pairs, and these
with the advantage taken out of the interval, as verdicts do it.

    PYTHONPATH=. python benchmarks/simulate_first_side.py [--campaigns 2000] [--seed 1]

On an H200 the process that came first in a round had rows up to 1 % slower or faster, whichever side it was
(docs/measurement.md). Here a row's round is y = effect + first * advantage + noise, first = +1 or -1 by the duet's
own coins (Coins.first_side, a seed a campaign), or by a free coin in each round. The noise is normal, 0.1 %.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

from zlbench_core.run.duet.coins import Coins
from zlbench_core.verdicts import RowRounds, decide_operator

ROUNDS = 6
NOISE = 0.001
ADVANTAGES = (0.0, 0.002, 0.004, 0.008, 0.033)
EFFECTS = (0.0, 0.005, 0.01)
KINDS = ("free", "balanced", "balanced, taken out")


def first_sides(kind: str, seed: int, rng: np.random.Generator) -> list[str]:
    if kind == "free":
        return list(rng.choice(["a", "b"], ROUNDS))
    return [Coins(seed, "mm", number).first_side() for number in range(1, ROUNDS + 1)]


def verdict(kind: str, effect: float, advantage: float, seed: int, rng: np.random.Generator) -> str:
    firsts = first_sides(kind, seed, rng)
    signs = np.array([1.0 if side == "a" else -1.0 for side in firsts])
    rounds = tuple(map(float, effect + advantage * signs + rng.normal(0, NOISE, ROUNDS)))
    told = tuple(firsts) if kind == KINDS[-1] else ()
    row = RowRounds("mm", "", "kernel", "row", 0, rounds, t_a_ms=0.05, t_b_ms=0.05, firsts=told)
    return decide_operator("mm", [row], ir=None, refusals=[]).verdict.value


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--campaigns", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| effect | first side's advantage | coins | FASTER or SLOWER | SAME | UNDECIDED |")
    print("| --- | --- | --- | --- | --- | --- |")
    for effect in EFFECTS:
        for advantage in ADVANTAGES:
            for kind in KINDS:
                rng = np.random.default_rng(options.seed)
                numbers = range(options.campaigns)
                found = Counter(verdict(kind, effect, advantage, number, rng) for number in numbers)
                shares = [found["FASTER"] + found["SLOWER"], found["SAME"], found["UNDECIDED"]]
                told = " | ".join(f"{count / options.campaigns:.1%}" for count in shares)
                print(f"| {effect:.1%} | {advantage:.1%} | {kind} | {told} |", flush=True)


if __name__ == "__main__":
    main()
