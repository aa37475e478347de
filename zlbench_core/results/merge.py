"""Joins two readings of the same run: one with all digits (JSON), one rounded for printing (the log).

Per block (op, dtype, mode) the precise rows win; a block that only the log holds is added; every difference
beyond rounding is named.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from zlbench_core.results.rows import BlockKey, Row

# The suite prints latencies with six decimals and everything else with three.
_DECIMALS = {"latency_base": 6, "latency": 6, "speedup": 3, "tflops": 3, "gbps_base": 3, "gbps": 3}
_HALVES = {field: 0.5 * 10.0**-decimals for field, decimals in _DECIMALS.items()}


def merge_rows(precise: Sequence[Row], rounded: Sequence[Row], name: str) -> tuple[list[Row], list[str]]:
    """The rows of both readings, and sentences about what differs. `name` says what the precise reading is.

    Both must be numbered (number_occurrences). Rows come in the order of the log where it has the block.
    """
    exact, printed = _by_block(precise), _by_block(rounded)
    rows: list[Row] = []
    notes: list[str] = []
    for block in dict.fromkeys([*printed, *exact]):
        rows += exact.get(block) or printed[block]
        if block not in printed and rounded:
            notes.append(f"{_title(block)}: only in {name}, not in the log")
        elif block not in exact and precise:
            notes.append(f"{_title(block)}: only in the log, not in {name}")
        elif block in exact and block in printed:
            notes += _differences(block, exact[block], printed[block], name)
    return rows, notes


def _by_block(rows: Iterable[Row]) -> dict[BlockKey, list[Row]]:
    blocks: dict[BlockKey, list[Row]] = defaultdict(list)
    for row in rows:
        blocks[row.block].append(row)
    return blocks


def _title(block: BlockKey) -> str:
    return " ".join(part for part in block if part)


def _differences(block: BlockKey, exact: list[Row], printed: list[Row], name: str) -> Iterator[str]:
    by_key = {row.key: row for row in printed}
    keys = {row.key for row in exact}
    if keys != by_key.keys():
        yield f"{_title(block)}: {name} has {len(exact)} rows, the log {len(printed)}, not of the same sizes"
    different = [row for row in exact if row.key in by_key and not _agree(row, by_key[row.key])]
    if different:
        sizes = ", ".join(row.size for row in different[:3])
        count = f"{len(different)} of {len(exact)}"
        yield f"{_title(block)}: {name} and the log disagree in {count} rows: {sizes}"


def _agree(exact: Row, printed: Row) -> bool:
    if exact.status != printed.status:
        return False
    for field, half in _HALVES.items():
        one, other = getattr(exact, field), getattr(printed, field)
        if one is not other and not _rounds_to(one, other, half):
            return False
    return True


def _rounds_to(exact: float | None, printed: float | None, half: float) -> bool:
    """What is too small to print reads 0.000 in the log, and is then as unknown as what is absent."""
    if exact is None or printed is None:
        return printed is None and exact is not None and exact <= half
    return abs(exact - printed) <= half * 1.001 + 1e-9 * abs(exact)
