"""The plots: a Vega-Lite specification for each kind, and for each plot its data alone.

Colours are CSS variables of the page, so that a plot follows the light and the dark scheme and the printer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from zlbench_core.report.series import RowSeries
from zlbench_core.report.words import ratio
from zlbench_core.verdicts.words import JUDGED, WORDS

MAX_FOREST = 60
MAX_ROUND_PLOTS = 12
_WIDE = 4  # beyond this range of ratios the axis is logarithmic
_VERDICTS = [str(verdict) for verdict in JUDGED]
_COLOURS = [f"var(--{WORDS[verdict].colour})" for verdict in JUDGED]
_FONT = "system-ui, sans-serif"
_CONFIG = {
    "background": None,
    "font": _FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--ink)",
        "titleColor": "var(--faint)",
        "gridColor": "var(--line)",
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 12,
    },
    "legend": {"labelColor": "var(--ink)", "title": None, "orient": "top", "labelFontSize": 12},
}


@dataclass(frozen=True)
class Plot:
    """`label` says in words what the plot shows; `data` is a list of compact records, see SPECS."""

    id: str
    kind: str
    label: str
    title: str
    data: list[Any]
    height: int


def specs(times: str) -> dict[str, Any]:
    """The specification of each kind. `times` names what a latency is measured in: `ms`, and by what."""
    return {
        "forest": _forest("linear"),
        "forest-wide": _forest("log"),
        "rounds": _rounds(times, ["a", "b"], ["var(--a)", "var(--b)"]),
        "rounds-one": _rounds(times, ["a", "torch"], ["var(--a)", "var(--b)"]),
    }


def _forest(scale: str) -> dict[str, Any]:
    """Data: [label, ratio, low, high, margin low, margin high, verdict]."""
    y = {"field": "label", "type": "nominal", "sort": None, "axis": {"title": None, "grid": False}}
    x = {
        "type": "quantitative",
        "scale": {"type": scale, "zero": False, "nice": False, "padding": 8},
        "axis": {"title": "latency of B over A", "tickCount": 5, "labelFlush": True},
    }
    colour = {
        "field": "verdict",
        "type": "nominal",
        "scale": {"domain": _VERDICTS, "range": _COLOURS},
        "legend": None,
    }
    tooltip = [{"field": name, "type": "nominal"} for name in ("label", "verdict", "told")]
    return {
        "config": _CONFIG,
        "width": "container",
        "fields": ["label", "ratio", "low", "high", "inner", "outer", "verdict", "told"],
        "layer": [
            {
                "mark": {"type": "bar", "color": "var(--band)", "height": {"band": 0.9}},
                "encoding": {"y": y, "x": {**x, "field": "inner"}, "x2": {"field": "outer"}},
            },
            {
                "data": {"values": [{}]},
                "mark": {"type": "rule", "color": "var(--faint)", "aria": False},
                "encoding": {"x": {**x, "datum": 1}},
            },
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {
                    "y": y,
                    "x": {**x, "field": "low"},
                    "x2": {"field": "high"},
                    "color": colour,
                    "tooltip": tooltip,
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
                "encoding": {"y": y, "x": {**x, "field": "ratio"}, "color": colour, "tooltip": tooltip},
            },
        ],
    }


def _rounds(times: str, names: list[str], colours: list[str]) -> dict[str, Any]:
    """Data: [round, latency of the first side, of the second]; folded into one record a side by the page."""
    return {
        "config": _CONFIG,
        "width": "container",
        "fields": ["round", *names],
        "transform": [{"fold": names, "as": ["side", "ms"]}, {"filter": "isValid(datum.ms)"}],
        "mark": {"type": "line", "point": {"size": 45, "filled": True}, "strokeWidth": 1.5},
        "encoding": {
            "x": {"field": "round", "type": "ordinal", "axis": {"labelAngle": 0, "title": "round"}},
            "y": {
                "field": "ms",
                "type": "quantitative",
                "scale": {"zero": False},
                "axis": {"title": times, "tickCount": 4},
            },
            "color": {"field": "side", "type": "nominal", "scale": {"domain": names, "range": colours}},
            "shape": {"field": "side", "type": "nominal", "scale": {"domain": names}},
            "tooltip": [{"field": name, "type": "nominal"} for name in ("side", "round", "ms")],
        },
    }


def forest(plot_id: str, title: str, items: Sequence[tuple[str, dict[str, Any]]]) -> Plot | None:
    """Ratios with intervals, one line per (label, operator or row of verdicts.json) that has them.

    At most 60: those whose interval lies furthest from 1, in the order given.
    """
    known = [(label, *_evidence(one)) for label, one in items]
    drawn = [line for line in known if line[1] is not None and line[2] is not None]
    furthest = sorted(drawn, key=lambda line: -abs(math.log(line[1])))[:MAX_FOREST]
    kept = [line for line in drawn if line in furthest] if len(drawn) > MAX_FOREST else drawn
    if not kept:
        return None
    data = [
        [label, value, *bounds, *margin, verdict, told]
        for label, value, bounds, margin, verdict, told in kept
    ]
    values = [bound for line in data for bound in line[1:6]]
    kind = "forest-wide" if max(values) / min(values) > _WIDE else "forest"
    label = f"Forest plot of {len(data)} ratios with intervals. " + "; ".join(
        f"{line[0]}: {line[7]}" for line in data[:5]
    )
    more = f" ({len(data)} of {len(drawn)}: those furthest from 1)" if len(drawn) > len(data) else ""
    return Plot(plot_id, kind, label, title + more, data, 24 * len(data) + 10)


def _evidence(one: dict[str, Any]) -> tuple[Any, ...]:
    """From an operator, whose evidence stands apart, or from a row, which holds it itself."""
    found = one.get("evidence", one) or {}
    value, bounds = found.get("ratio"), found.get("ratio_ci")
    if value is None or bounds is None:
        return None, None, None, None, None
    margin = (1 / (1 + found["delta"]), 1 + found["delta"])
    return value, bounds, margin, one["verdict"], f"{ratio(value)} ({ratio(bounds[0])} to {ratio(bounds[1])})"


def round_plots(prefix: str, rows: Sequence[RowSeries], mark: str, most: int = MAX_ROUND_PLOTS) -> list[Plot]:
    """Latency by round for the rows that moved most, at most `most`; a row of a single round shows no drift."""
    several = [row for row in rows if len(row.points) > 1]
    moved = sorted(several, key=_movement, reverse=True)[:most]
    return [_round_plot(f"{prefix}-{place}", row, mark) for place, row in enumerate(several) if row in moved]


def _round_plot(plot_id: str, row: RowSeries, mark: str) -> Plot:
    data = [[number, _short(a), _short(b)] for number, a, b in row.points]
    one_side = all(b is None for _, _, b in row.points)
    label = f"Latency by round of {row.label}, {len(data)} rounds"
    return Plot(plot_id, "rounds-one" if one_side else "rounds", label, mark + row.label, data, 130)


def _movement(row: RowSeries) -> float:
    """The largest over the smallest latency of either side: a drift, or a noisy row."""
    return max(_spread(point[side] for point in row.points) for side in (1, 2))


def _spread(values: Iterable[float | None]) -> float:
    known = [value for value in values if value is not None]
    return max(known) / min(known) if known else 0.0


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")
