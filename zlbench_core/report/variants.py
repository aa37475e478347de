"""What the IR gate found, variant by variant, with the static cost of each where the gate tells it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zlbench_core.judge.ir.figures import FIGURES

MAX_VARIANTS = 200


def gate_view(gate: Mapping[str, Any]) -> dict[str, Any]:
    """The gate of one operator for the page. Variants that differ stand first; at most 200 are listed."""
    variants = sorted(map(_variant, gate["variants"]), key=lambda one: not one["differs"])
    return {
        "verdict": gate["verdict"],
        "reason": gate.get("reason"),
        "first_stage": gate.get("first_stage"),
        "counts": gate.get("counts") or {},
        "only_locations": gate.get("only_locations") or 0,
        "variants": variants[:MAX_VARIANTS],
        "left_out": max(0, len(variants) - MAX_VARIANTS),
        "costs": any(one["costs"] for one in variants),
    }


def _variant(variant: Mapping[str, Any]) -> dict[str, Any]:
    only = variant.get("only_in")
    return {
        "kernel": variant.get("kernel"),
        "config": _config(variant.get("config") or {}),
        "first_stage": f"only in {only}" if only else variant.get("first_stage") or "same",
        "stages": ", ".join(variant.get("differing") or ()),
        "differs": bool(only or variant.get("differing")),
        "costs": list(_costs(variant.get("cost"))),
    }


def _config(config: Mapping[str, Any]) -> str:
    """The constants and launch options: what tells the variants of one kernel apart."""
    options = {name: value for name, value in config.items() if name.startswith(("num_", "max"))}
    return ", ".join(
        f"{name}={value}" for name, value in {**(config.get("constexprs") or {}), **options}.items()
    )


def _costs(cost: Any) -> Iterator[dict[str, Any]]:
    """From {"a": cost or None, "b": cost or None, "change": {figure: b - a}}: what changed stands first."""
    if not isinstance(cost, Mapping):
        return
    change = cost.get("change") or {}
    a, b = _figures(cost.get("a")), _figures(cost.get("b"))
    for name in sorted(dict.fromkeys([*a, *b]), key=lambda name: not change.get(name)):
        moved = change.get(name)
        yield {
            "name": name,
            "a": _figure(a, name),
            "b": _figure(b, name),
            "change": "unknown" if moved is None else f"{moved:+d}" if moved else "0",
            "changed": bool(moved),
        }


def _figures(cost: Any) -> dict[str, int]:
    """The figures that a side knows, the number of instructions and that of each class among them."""
    if not isinstance(cost, Mapping):
        return {}
    figures = {name: cost[name] for name in FIGURES if isinstance(cost.get(name), int)}
    classes = cost.get("instructions")
    if isinstance(classes, Mapping):
        figures["instructions"] = sum(classes.values())
        figures |= {f"instructions.{name}": count for name, count in classes.items()}
    return figures


def _figure(figures: Mapping[str, int], name: str) -> str:
    """A class of instructions that a side does not have, though its classes were counted, is 0 there."""
    if name in figures:
        return str(figures[name])
    return "0" if name.startswith("instructions.") and "instructions" in figures else "unknown"
