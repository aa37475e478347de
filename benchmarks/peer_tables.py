"""What other tools' published rules say of a campaign's own samples, row by row beside our verdict, in Markdown.

    PYTHONPATH=. python benchmarks/peer_tables.py results/cuda [--own-order other/samples.parquet]

Rules over samples see all samples of a row and side, pooled over the rounds; rules over runs see one value a round,
its latency. A second file holds samples of the same rows taken in a tool's own order (all of A, then all of B): a
cell then reads "on our samples / in their own order". peer_rules.py names the source of each rule.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from peer_rules import FASTER, PEERS, SLOWER

from zlbench_core.errors import ReadError, ZlbenchError
from zlbench_core.judge.show import read_verdicts
from zlbench_core.results.store import SAMPLES_NAME, read_samples_table

OVER_RUNS = ("google/benchmark Mann-Whitney", "pyperf t")
COLUMNS = [
    "op",
    "side",
    "round",
    "dtype",
    "mode",
    "size",
    "occurrence",
    "role",
    "seq",
    "value_ms",
    "samples_ms",
]
COLUMNS += ["superblock", "block"]
MISSING = "-"

RowName = tuple[str, str, str, int]  # op, dtype, size, occurrence


@dataclass
class Side:
    """One side of one row: every sample (ms) in the order of the rounds, and one latency (ms) a round."""

    samples: list[float] = field(default_factory=list)
    runs: list[float] = field(default_factory=list)


def read_sides(path: Path) -> dict[RowName, dict[str, Side]]:
    """The samples of every row of a samples.parquet, by side."""
    lines = [line for line in read_samples_table(path, COLUMNS) if line["role"] == "latency"]
    found: dict[RowName, dict[str, Side]] = {}
    for line in sorted(lines, key=_in_order):
        row = (line["op"], line["dtype"], line["size"], line["occurrence"])
        side = found.setdefault(row, {}).setdefault(line["side"], Side())
        side.samples += line["samples_ms"] or []
        side.runs += [line["value_ms"]] if line["superblock"] is None and line["value_ms"] else []
    return found


def _in_order(line: Mapping[str, Any]) -> tuple[int, int, int, int]:
    place = line["superblock"], line["block"]
    return (line["round"], line["seq"], *(-1 if value is None else value for value in place))


def said_by_peers(sides: Mapping[str, Side] | None) -> dict[str, str]:
    """What each rule says of B against A; MISSING where a side has no samples, or fewer runs than tell a spread."""
    if sides is None or not {"a", "b"} <= sides.keys() or not all(sides[side].samples for side in "ab"):
        return dict.fromkeys(PEERS, MISSING)
    both = sides["a"], sides["b"]
    has_spread = all(len(side.runs) >= 2 for side in both)
    answers = {}
    for name, rule in PEERS.items():
        if name in OVER_RUNS:
            answers[name] = rule(*(side.runs for side in both)) if has_spread else MISSING
        else:
            answers[name] = rule(*(side.samples for side in both))
    return answers


def our_rows(verdicts: Mapping[str, Any]) -> dict[RowName, str]:
    """Our verdict of each row; a placebo's rows say what would have been said had its code differed."""
    told = {}
    for operator in verdicts["operators"]:
        placebo = operator["placebo"] or {}
        for row in operator["rows"] or placebo.get("rows", ()):
            ratio = f" {100 * (row['ratio'] - 1):+.2f}%" if row["ratio"] else ""
            name = (operator["op"], row["dtype"], row["size"], row["occurrence"])
            told[name] = f"{row['verdict']}{ratio}" + (" (placebo)" if not operator["rows"] else "")
    return told


def table(
    ours: Mapping[RowName, str],
    same: Mapping[RowName, Mapping[str, Side]],
    own: Mapping[RowName, Mapping[str, Side]] | None,
) -> str:
    """The Markdown table: a line per row, and at its end how many rows each rule called different."""
    heads = ["operator row", "zlbench", *PEERS]
    lines, claims = [], {name: [0, 0] for name in PEERS}
    for row in sorted(ours):
        answers = [said_by_peers(same.get(row))] + ([said_by_peers(own.get(row))] if own is not None else [])
        for place, answer in enumerate(answers):
            for name in PEERS:
                claims[name][place] += answer[name] in (FASTER, SLOWER)
        cells = [" / ".join(answer[name] for answer in answers) for name in PEERS]
        lines.append([_label(row), ours[row], *cells])
    total = sum(verdict.startswith(("FASTER", "SLOWER")) for verdict in ours.values())
    counts = [" / ".join(map(str, claims[name][: 1 if own is None else 2])) for name in PEERS]
    lines.append([f"called different, of {len(ours)}", str(total), *counts])
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [heads, ["---"] * len(heads), *lines])


def _label(row: RowName) -> str:
    op, dtype, size, occurrence = row
    told = f"{op} {dtype.removeprefix('torch.')} {size}" + (f" #{occurrence}" if occurrence else "")
    return told.replace("|", "\\|")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Other tools' rules on a campaign's own samples.")
    parser.add_argument("folder", type=Path, help="results/{backend} of a finished campaign")
    parser.add_argument("--own-order", type=Path, help="a samples.parquet taken in a tool's own order")
    asked = parser.parse_args(argv)
    try:
        ours = our_rows(read_verdicts(asked.folder / "verdicts.json"))
        if not ours:
            raise ReadError(
                f"{asked.folder / 'verdicts.json'} has no row with a verdict: there is nothing to compare"
            )
        own = read_sides(asked.own_order) if asked.own_order else None
        print(table(ours, read_sides(asked.folder / SAMPLES_NAME), own), end="")
    except ZlbenchError as error:
        print(f"peer_tables: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
