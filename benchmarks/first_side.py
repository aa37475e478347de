"""How much the side that is launched first is faster or slower, row by row: log(first / second) over a duet's rounds.

    PYTHONPATH=. python benchmarks/first_side.py RESULTS... [--above PERCENT]

RESULTS is a campaign's results/{backend}. Of equal sides nothing but their order is left. A run: docs/measurement.md.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections import defaultdict
from pathlib import Path

from zlbench_core.records.identity import load_identity

Rounds = dict[int, dict[str, float]]


def read_rounds(operator: Path) -> tuple[dict[str, Rounds], dict[int, str]]:
    """Milliseconds by row, round and side, and the side that was launched first in each round, of the finished runs in
    an operator's folder. The coins are its own."""
    rows: dict[str, Rounds] = defaultdict(lambda: defaultdict(dict))
    first: dict[int, str] = {}
    for path in sorted(operator.glob("[ab]/r*/samples.jsonl")):
        identity = load_identity(path.parent)
        if identity.get("status") != "complete":
            continue
        side, number = path.parts[-3], int(path.parent.name[1:])
        if identity.get("order") == 0:
            first[number] = side
        for line in path.read_text().splitlines():
            sample = json.loads(line)
            row = f"{sample['row']['label']} {sample['row']['occurrence']}"
            rows[row][number][side] = sample["value_ms"]
    return rows, first


def advantages(rounds: Rounds, first: dict[int, str]) -> list[float]:
    """log(first / second) in percent, by round."""
    both = [(number, sides) for number, sides in sorted(rounds.items()) if len(sides) == 2]
    return [
        100 * math.log(sides[first[number]] / sides["a" if first[number] == "b" else "b"])
        for number, sides in both
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "results", nargs="+", type=Path, help="results/{backend} of a campaign of protocol duet"
    )
    parser.add_argument(
        "--above", type=float, default=0.3, help="percent: rows of a smaller mean are counted only"
    )
    options = parser.parse_args()
    told, total = [], 0
    for operator in (path for results in options.results for path in sorted(results.glob("*"))):
        rows, first = read_rounds(operator)
        for row, rounds in rows.items():
            found = advantages(rounds, first)
            if len(found) < 2:
                continue
            total += 1
            mean, spread = statistics.mean(found), statistics.stdev(found)
            if abs(mean) > options.above and abs(mean) > 2 * spread:
                told.append((abs(mean), f"| {row} | {mean:+.2f} % | {spread:.2f} % | {len(found)} |"))
    print("| row | first against second | sd of the rounds | rounds |\n| --- | --- | --- | --- |")
    print("\n".join(line for _, line in sorted(told, reverse=True)))
    print(f"\n{len(told)} of {total} rows: the mean beyond {options.above} % and beyond twice the spread")


if __name__ == "__main__":
    main()
