"""Numbers as the report writes them."""

from __future__ import annotations

from typing import Any

from zlbench_core.common.text import percent
from zlbench_core.results.rows import positive


def number(value: Any, digits: int = 4) -> str:
    """Four significant digits; a dash for what is not known."""
    known = positive(value)
    return "–" if known is None else f"{known:.{digits}g}"


def ratio(value: float) -> str:
    return f"{value:.4f}" if 0.1 <= value < 10 else f"{value:.4g}"


def interval(bounds: list[float] | tuple[float, float] | None) -> str:
    return "–" if bounds is None else f"{ratio(bounds[0])} to {ratio(bounds[1])}"


def change(value: float) -> str:
    """`8.8 % less` for a ratio of 0.912."""
    if value == 1:
        return "the same"
    return f"{percent(abs(value - 1))} {'less' if value < 1 else 'more'}"


def probability(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def sides_text(config: dict[str, Any], axis: list[str]) -> dict[str, str]:
    """What makes each side what it is, on the declared axis: `TRITON_F32_DEFAULT=ieee`, `not set`."""
    return {side["name"]: ", ".join(_on_axis(side, axis)) or "as configured" for side in config["sides"]}


def _on_axis(side: dict[str, Any], axis: list[str]) -> list[str]:
    told = []
    for name in axis:
        if name.startswith("env:"):
            variable = name.removeprefix("env:")
            value = side["env"].get(variable)
            told.append(f"{variable} not set" if value is None else f"{variable}={value}")
        else:
            told.append(f"{name} {side.get(name)}")
    return told
