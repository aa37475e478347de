"""The static costs of many variants and of both sides of a comparison, each binary read once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from zlbench_core.ir.archive import Variant
from zlbench_core.judge.ir.compare import Pair
from zlbench_core.judge.ir.disassembly import Disassembly, disassemble_cubins
from zlbench_core.judge.ir.static_cost import COST_STAGES, compare_costs, cost_of

HEADLINE = ("registers", "spills", "instructions")

Cost = dict[str, Any]


def costs_of(variants: Iterable[Variant]) -> list[Cost]:
    """The static cost of each variant (static_cost.py). Equal code is disassembled once."""
    chosen = [(_code(variant), variant) for variant in variants]
    distinct = dict(chosen)
    sass = _sass(distinct)
    found = {code: cost_of(variant, sass.get(code)) for code, variant in distinct.items()}
    return [found[code] for code, _ in chosen]


def pair_costs(pairs: Sequence[Pair]) -> list[Cost]:
    """{"a": cost or None, "b": cost or None, "change": {figure: b - a or None}} for each pair.

    A side that did not compile the variant is None, and then no figure has a change.
    """
    variants = [variant for pair in pairs for variant in (pair.a, pair.b) if variant]
    costs = iter(costs_of(variants))
    found = []
    for pair in pairs:
        a = next(costs) if pair.a else None
        b = next(costs) if pair.b else None
        found.append({"a": a, "b": b, "change": cost_change(a, b) if a and b else {}})
    return found


def cost_change(a: Cost, b: Cost) -> dict[str, int | None]:
    """b - a for each figure that a side knows; None where the other does not, or counts in another unit."""
    return {name: sides["change"] for name, sides in compare_costs(a, b).items()}


def change_ranges(costs: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, int] | None]:
    """{"registers": {"min", "max"}, ...}: the smallest and largest change over variants, None where unknown.

    A variant whose change is not known makes the whole range unknown: it might be the largest.
    """
    changes = [cost["change"] for cost in costs if cost["a"] and cost["b"]]
    return {name: _range([change.get(name) for change in changes]) for name in HEADLINE}


def _range(values: Sequence[int | None]) -> dict[str, int] | None:
    known = [value for value in values if value is not None]
    if not values or len(known) < len(values):
        return None
    return {"min": min(known), "max": max(known)}


def _sass(variants: Mapping[str, Variant]) -> dict[str, Disassembly]:
    """The disassembly of the variants that have a cubin, under their keys."""
    by_arch: dict[int, list[str]] = {}
    for key, variant in variants.items():
        if "cubin" in variant.stages:
            by_arch.setdefault(variant.document["target"]["arch"], []).append(key)
    found: dict[str, Disassembly] = {}
    for arch, keys in by_arch.items():
        paths = [variants[key].path / "cubin" for key in keys]
        found |= dict(zip(keys, disassemble_cubins(paths, arch), strict=True))
    return found


def _code(variant: Variant) -> str:
    """What a variant's cost depends on: the code, locations stripped, and the memory asked for at launch."""
    return json.dumps([*map(variant.digests.get, COST_STAGES), variant.document["shared"], _unread(variant)])


def _unread(variant: Variant) -> str | None:
    """Stages that have no reader differ in what they are called, and that name stands in the reasons."""
    return None if set(variant.stages) & set(COST_STAGES) else ",".join(variant.stages)
