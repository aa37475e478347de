"""What a compiled variant costs before it runs: registers, spills, memory, instructions by class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from zlbench_core.ir.archive import Variant
from zlbench_core.ir.elf import Elf
from zlbench_core.judge.ir import cubin, hsaco
from zlbench_core.judge.ir.disassembly import Disassembly
from zlbench_core.judge.ir.figures import FIGURES, Figures, Missing

_READERS: dict[str, Callable[[Variant, Elf, Disassembly | None], Figures]] = {
    "cubin": cubin.figures,
    "hsaco": hsaco.figures,
}
COST_STAGES = (*_READERS, "amdgcn")  # what the readers read


def cost_of(variant: Variant, sass: Disassembly | None = None) -> dict[str, Any]:
    """The static cost of an archived variant: the figures of figures.py, the `stage` that told them, reasons.

    A figure that could not be had is None and its reason stands under `reasons`; none is ever guessed as 0.
    `sass` is the disassembly of its cubin, where it was made together with others.
    Raises ArchiveError when a stage cannot be read.
    """
    stage = next((stage for stage in reversed(variant.stages) if stage in _READERS), None)
    found = _figures(variant, stage, sass)
    told = {name: found.get(name, Missing(f"{stage} does not tell")) for name in FIGURES}
    return {
        "stage": stage,
        **{name: None if isinstance(value, Missing) else value for name, value in told.items()},
        "reasons": {name: value.reason for name, value in told.items() if isinstance(value, Missing)},
    }


def compare_costs(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, dict[str, int | None]]:
    """{figure: {"a", "b", "change"}} for each figure that a side knows.

    "instructions" is their number, "instructions.mma" that of a class.

    `change` is b - a, None where one of the sides does not know the figure or counts it in another unit.
    """
    a_figures, b_figures = _flat(a), _flat(b)
    absent = 0 if a["instructions"] is not None and b["instructions"] is not None else None
    compared = {}
    for name in dict.fromkeys([*a_figures, *b_figures]):
        default = absent if name.startswith("instructions.") else None
        one, other = a_figures.get(name, default), b_figures.get(name, default)
        same_unit = name != "spills" or a["spills_unit"] == b["spills_unit"]
        change = other - one if one is not None and other is not None and same_unit else None
        compared[name] = {"a": one, "b": other, "change": change}
    return compared


def _figures(variant: Variant, stage: str | None, sass: Disassembly | None) -> Figures:
    if stage is None:
        reason = f"no reader for the stages {', '.join(variant.stages)}"
        return dict.fromkeys(FIGURES, Missing(reason))
    try:
        return _READERS[stage](variant, Elf(variant.read_stage(stage)), sass)
    except ValueError as error:
        return dict.fromkeys(FIGURES, Missing(f"unreadable {stage}: {error}"))


def _flat(cost: Mapping[str, Any]) -> dict[str, int]:
    figures = {name: cost[name] for name in FIGURES if isinstance(cost[name], int)}
    if cost["instructions"] is not None:
        figures["instructions"] = sum(cost["instructions"].values())
    classes = {f"instructions.{name}": count for name, count in (cost["instructions"] or {}).items()}
    return {**figures, **classes}
