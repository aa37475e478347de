"""How slow are the first launches after a GPU changed hands? Justifies `discard` of protocol duet.

Two processes take turns on one GPU, as in a duet: one block each, in the order ABBA or BAAB. For a short, a medium
and a long kernel, and for single launches and graphs alike, it prints the mean excess of sample 0..9 of a block over
the block's later samples, and the first sample from which on the excess stays below 1%. Prints JSON with --json.

    PYTHONPATH=. python benchmarks/h200_carry_over.py                 # about 30 s on one GPU
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

from zlbench_core.duet.row import RowSampler
from zlbench_core.run.duet.coins import Coins
from zlbench_core.timing.samples import TimedRequest

SHOWN = 10
SAMPLES = 40
SUPERBLOCKS = 25
NEGLIGIBLE = 0.01
GRAPH_MS = 0.25


def kernels() -> dict[str, Callable[[], Any]]:
    """About 3, 50 and 200 us on an H200."""
    import torch

    def normal(rows: int, columns: int) -> Any:
        return torch.randn(rows, columns, device="cuda", dtype=torch.float16)

    small, wide, square = normal(64, 64), normal(4096, 4096), normal(4096, 4096)
    return {
        "add 64x64": lambda: small + small,
        "softmax 4096x4096": lambda: torch.softmax(wide, 1),
        "mm 4096": lambda: square @ wide,
    }


def serve() -> None:
    """One side: reads {kernel, way, samples}, runs one block, answers with ms per launch."""
    import torch
    from triton.runtime import driver

    cache = driver.active.get_empty_cache_for_benchmark()
    samplers: dict[tuple[str, str], RowSampler] = {}
    for name, call in kernels().items():
        for way in ("direct", "graph"):
            samplers[name, way] = sampler = RowSampler(
                torch.cuda, TimedRequest(call), lambda: driver.active.clear_cache(cache)
            )
            call_ms = sampler.block(20, 20).samples_ms[-1]
            if way == "graph":
                sampler.capture(max(1, math.ceil(GRAPH_MS / call_ms)))
    print("ready", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        print(
            json.dumps(samplers[asked["kernel"], asked["way"]].block(0, asked["samples"]).samples_ms),
            flush=True,
        )


class Side:
    def __init__(self) -> None:
        self._process = Popen(
            [sys.executable, str(Path(__file__)), "--serve"], stdin=PIPE, stdout=PIPE, text=True
        )

    def wait(self) -> None:
        if self._process.stdout.readline().strip() != "ready":
            raise SystemExit("a side did not start; its error stands above")

    def block(self, kernel: str, way: str) -> list[float]:
        self._process.stdin.write(json.dumps({"kernel": kernel, "way": way, "samples": SAMPLES}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def end(self) -> None:
        self._process.stdin.close()
        self._process.wait()


def blocks_after_a_hand_over(sides: dict[str, Side], kernel: str, way: str) -> Iterator[list[float]]:
    """The blocks whose device was the other side's just before: of ABBA, all but the second B."""
    before = ""
    for number in range(SUPERBLOCKS):
        for letter in Coins(1, "carry-over", 1).order(f"{kernel} {way}", 0, number):
            samples = sides[letter].block(kernel, way)
            if letter != before:
                yield samples
            before = letter


def excess(blocks: list[list[float]]) -> list[float]:
    """Mean of sample i over the median of each block's later samples, less 1."""
    ratios = [[value / statistics.median(block[SHOWN:]) for value in block[:SHOWN]] for block in blocks]
    return [statistics.fmean(column) - 1 for column in zip(*ratios, strict=True)]


def settled(over: list[float]) -> int:
    """The first sample from which on the excess stays negligible."""
    slow = [number for number, value in enumerate(over) if abs(value) > NEGLIGIBLE]
    return slow[-1] + 1 if slow else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    sides = {"A": Side(), "B": Side()}
    for side in sides.values():
        side.wait()
    found = []
    for kernel in ("add 64x64", "softmax 4096x4096", "mm 4096"):
        for way in ("direct", "graph"):
            blocks = list(blocks_after_a_hand_over(sides, kernel, way))
            centre_us = 1e3 * statistics.median(value for block in blocks for value in block[SHOWN:])
            over = excess(blocks)
            found.append(
                {"kernel": kernel, "way": way, "us": centre_us, "excess": over, "settled": settled(over)}
            )
    for side in sides.values():
        side.end()
    print(json.dumps(found) if options.json else as_table(found))


def as_table(found: list[dict[str, Any]]) -> str:
    head = "| kernel | way | us | excess of sample 0..9, % | below 1% from |\n|---|---|---|---|---|\n"
    lines = [
        f"| {one['kernel']} | {one['way']} | {one['us']:.1f} | "
        f"{' '.join(f'{100 * value:.1f}' for value in one['excess'])} | {one['settled']} |"
        for one in found
    ]
    return head + "\n".join(lines)


if __name__ == "__main__":
    main()
