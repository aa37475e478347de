"""Differences and static costs as lines for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from zlbench_core.ir.archive import Variant
from zlbench_core.judge.ir.compare import Pair
from zlbench_core.judge.ir.costs import Cost
from zlbench_core.judge.ir.diff import ArchiveDiff, VariantDiff
from zlbench_core.judge.ir.figures import FIGURES
from zlbench_core.judge.ir.static_cost import compare_costs
from zlbench_core.results.console import folded

_COLOURS = {"--- a/": "1", "+++ b/": "1", "@@": "36", "-": "31", "+": "32"}
# Control characters, and those that turn the direction of writing: IR holds strings of the user's.
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def diff_text(found: ArchiveDiff, colour: bool = False, brief: bool = False, width: int | None = None) -> str:
    """Each variant that differs: its name and stages, its static cost, the diff (not where `brief`); then a count.

    Kernels that were paired though their names differ are told first. No line is wider than `width` columns.
    """
    lines = [_renamed_line(*found.renamed)] if found.renamed else []
    lines += [line for variant in found.variants for line in _variant_lines(variant, brief)]
    lines.append(_closing_line(found))
    return "".join(f"{piece}\n" for line in map(plain, lines) for piece in _pieces(line, colour, width))


def plain(line: str) -> str:
    """The line without what a terminal would obey."""
    return _CONTROL.sub("\ufffd", line)


def describe(variant: Variant) -> str:
    """One line that tells a variant apart from the others of its kernel."""
    document = variant.document
    types = ", ".join(kind for kind in document["signature"] if not kind.endswith(": constexpr"))
    return f"{variant.kernel}({types}) [{settings(variant)}] {variant.variant_id}"


def settings(variant: Variant) -> str:
    """The constants and launch options of a variant: `BLOCK=128, num_warps=4`."""
    launch = {name: value for name, value in variant.config.items() if name.startswith(("num_", "max"))}
    values = {**variant.document["constexprs"], **launch}
    return ", ".join(f"{name}={value}" for name, value in values.items())


def cost_text(cost: Cost) -> str:
    """The static cost of a pair in one line: what changed, and what is not known."""
    a, b = cost["a"], cost["b"]
    if a is None or b is None:
        return f"static cost {_told(a or b)}"
    changes = {name: sides for name, sides in compare_costs(a, b).items() if sides["change"] != 0}
    known = [
        f"{name.removeprefix('instructions.')} {sides['a']} -> {sides['b']} ({sides['change']:+d})"
        for name, sides in changes.items()
        if sides["change"] is not None
    ]
    unknown = [name for name in FIGURES if name in {**a["reasons"], **b["reasons"]} and _matters(a, b, name)]
    parts = [*known, *(f"{name} not known: {_reason(a, b, name)}" for name in unknown)]
    return f"static cost {', '.join(parts) or 'unchanged'}"


def _told(cost: dict[str, Any]) -> str:
    figures = {name: cost[name] for name in FIGURES if isinstance(cost[name], int)}
    figures |= {f"instructions.{name}": count for name, count in (cost["instructions"] or {}).items()}
    told = ", ".join(f"{name} {value}" for name, value in figures.items())
    return told or f"not known: {next(iter(cost['reasons'].values()), 'no reason given')}"


def _matters(a: dict[str, Any], b: dict[str, Any], name: str) -> bool:
    """A figure that neither side's device has is no gap."""
    return name in ("registers", "spills", "instructions") or a[name] is not None or b[name] is not None


def _reason(a: dict[str, Any], b: dict[str, Any], name: str) -> str:
    return a["reasons"].get(name) or b["reasons"][name]


def _variant_lines(found: VariantDiff, brief: bool) -> Iterator[str]:
    pair = found.pair
    if pair.only_in:
        yield f"{describe(pair.variant)}: only in {pair.only_in}"
    else:
        yield f"{_described(pair)}: first differs at {pair.first_stage}, differs at {', '.join(pair.differing)}"
    yield from (f"  side {side} lacks {', '.join(stages)}" for side, stages in pair.missing.items())
    yield f"  {cost_text(found.cost)}"
    if not brief:
        yield from found.lines


def _described(pair: Pair) -> str:
    """Both sides of a pair of two names, whose settings may differ too."""
    a, b = pair.both or (pair.variant, pair.variant)
    return describe(a) if a.kernel == b.kernel else f"{describe(a)} -> {describe(b)}"


def _renamed_line(a: str, b: str) -> str:
    return f"{a} of a and {b} of b have no counterpart by name, and no other kernel has none: they are paired"


def _closing_line(found: ArchiveDiff) -> str:
    if found.result.reason:
        return found.result.reason
    counts = found.result.counts
    return (
        f"{counts['different']} of {counts['compared']} variants differ, {counts['only_in_a']} only in a, "
        f"{counts['only_in_b']} only in b, {found.result.only_locations} differ in locations alone"
    )


def _pieces(line: str, colour: bool, width: int | None) -> Iterator[str]:
    code = next((code for start, code in _COLOURS.items() if line.startswith(start)), None)
    for piece in [line] if width is None else folded(line.expandtabs(), width):
        yield f"\x1b[{code}m{piece}\x1b[0m" if code and colour else piece
