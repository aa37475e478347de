"""What the IR gate found, variant by variant, with the static cost of each where the gate tells it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

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
    """{figure: {a, b, change}}: figures that both sides lack are left out, the changed ones stand first."""
    if not isinstance(cost, Mapping):
        return
    found = [
        (name, one)
        for name, one in cost.items()
        if isinstance(one, Mapping) and {"a", "b"} <= one.keys() and (one["a"], one["b"]) != (None, None)
    ]
    for name, one in sorted(found, key=lambda pair: not pair[1].get("change")):
        yield {
            "name": name,
            "a": _figure(one["a"]),
            "b": _figure(one["b"]),
            "change": "unknown" if (moved := one.get("change")) is None else f"{moved:+d}" if moved else "0",
            "changed": bool(moved),
        }


def _figure(value: Any) -> str:
    return "unknown" if value is None else str(value)
