"""report.html: one file that needs nothing else, neither a server nor the network."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from zlbench_core import __version__
from zlbench_core.common.plural import count
from zlbench_core.common.text import printable, shortened
from zlbench_core.judge.headline import headline
from zlbench_core.judge.pins.pins_show import NOTHING
from zlbench_core.judge.show import interval_name
from zlbench_core.report.calibers import check_rows, differing_first, value_rows
from zlbench_core.report.conditions import conditions_rows
from zlbench_core.report.operators import operator_views, overview, single_views
from zlbench_core.report.pins import pins_view
from zlbench_core.report.plots import Plot, specs
from zlbench_core.report.scripts import content_policy, scripts
from zlbench_core.report.source import Results
from zlbench_core.report.words import sides_text
from zlbench_core.verdicts.words import WORDS

_BRIEF = (
    120  # characters of a reason, wherever it does not stand in full: it does so in its operator's details
)
_OPEN = 8  # operators, up to which all of them are unfolded


def page(results: Results) -> str:
    """The page as HTML. Whatever a log or a table says stays text in it."""
    return _environment().get_template("report.html.j2").render(**_context(results))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_file),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["brief"] = lambda text: shortened(text, _BRIEF)
    environment.filters["count_of"] = count
    environment.globals["nothing_to_pin"] = NOTHING
    environment.globals["style"] = Markup(_file("report.css") + _word_colours())
    return environment


def _file(name: str) -> str:
    return (resources.files(__package__) / "template" / name).read_text(encoding="utf-8")


def _word_colours() -> str:
    """The style of each verdict word, whose parts are the classes of its element."""
    return "".join(
        f".{'.'.join(verdict.split())} {{ color: var(--{word.colour}); }}\n"
        for verdict, word in WORDS.items()
    )


def _visible(value: Any) -> Any:
    """Control characters and direction marks become visible escapes; our own markup is left alone."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _context(results: Results) -> dict[str, Any]:
    ops = operator_views(results) if results.is_ab else single_views(results)
    forest = overview(results) if results.is_ab else None
    plots = [forest, *(plot for view in ops for plot in (view.get("forest"), *view["plots"]))]
    drawn = [plot for plot in plots if plot is not None]
    return {
        "version": __version__,
        "results": results,
        "config": results.config,
        "found": results.found,
        "meanings": {verdict: word.meaning for verdict, word in WORDS.items()},
        "sides": sides_text(results.config, results.receipt["declared_axis"]),
        "headline": headline((run.side, run.identity) for run in results.runs).parts,
        "interval_name": interval_name(results.found),
        "times": _times(results),
        "ops": ops,
        "places": {view["op"]: view["id"] for view in ops},
        "unfolded": len(ops) <= _OPEN,
        "forest": forest,
        "checks": check_rows(results.operators),
        "values": list(differing_first(_values(results))),
        "pins": [pins_view(op, pins) for op, pins in results.pins.items()],
        "conditions": conditions_rows(results.runs),
        "bad_statuses": [line for line in results.statuses if line["status"] != "ok"],
        "notes": [
            (line["op"], line["side"], note)
            for line in results.statuses
            for note in filter(None, line.get("notes", "").split(";"))
        ],
        "plots": {"specs": specs(_times(results)), "plots": {plot.id: _drawing(plot) for plot in drawn}},
        "policy": Markup(content_policy()),
        "scripts": [Markup(text) for text in scripts()],
    }


def _values(results: Results) -> list[dict[str, Any]]:
    names = [side["name"] for side in results.config["sides"]]
    return value_rows(results.runs, results.receipt["declared_axis"], names)


def _times(results: Results) -> str:
    """What a latency is in: nobody may take the interpreter's time for a device's."""
    return "ms (CPU interpreter)" if results.interpreted else "ms"


def _drawing(plot: Plot) -> dict[str, Any]:
    fields = asdict(plot)
    return {name: fields[name] for name in ("kind", "data", "height")}
