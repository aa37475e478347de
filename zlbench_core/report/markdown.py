"""summary.md: the verdicts as Markdown, fit for a comment on a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from zlbench_core.common.plural import count
from zlbench_core.common.text import printable, shortened
from zlbench_core.judge.headline import headline
from zlbench_core.judge.show import told_verdict, verdict_lines, verdict_table
from zlbench_core.report.operators import RELEASED, single_views
from zlbench_core.report.source import Results
from zlbench_core.report.words import interval, ratio, sides_text
from zlbench_core.results.columns import TEXT, Column, Table
from zlbench_core.results.frames import frame_of, records
from zlbench_core.results.tables import STATUS
from zlbench_core.verdicts.words import WORDS

MAX_LINES = 50  # a comment on GitHub takes 65,536 characters
MAX_CELL = 240
_SPEEDUP = Column(
    "speedup", TEXT, "from the slowest row to the fastest", known=True, heading="speedup over torch"
)
_OPERATORS = Table(
    "operators", (STATUS["op"], STATUS["status"], _SPEEDUP, STATUS["rows"], STATUS["reason"])
)  # of one side alone
_COMPILED = Table("operators", (STATUS["op"], STATUS["status"], STATUS["reason"]))
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$-])")


def escaped(text: str) -> str:
    """`text` as Markdown that shows it literally on one line: no table cell ends, no link, tag or mention begins."""
    text = (
        shortened(printable(text), MAX_CELL).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    )
    text = _SPECIAL.sub(r"\\\1", text)
    return text.replace("@", "@&#8203;").replace("://", ":&#8203;//").replace("www.", "www&#8203;.")


def markdown(results: Results) -> str:
    """The loudest verdicts first, at most 50; refusals with their reasons folded below."""
    lines = [*_head(results), "", *(_verdicts(results) if results.is_ab else _statuses(results))]
    return "\n".join(lines) + "\n"


def _head(results: Results) -> Iterator[str]:
    yield f"### zlbench: {_question(results)}"
    yield ""
    for line in results.stale:
        yield f"**STALE**: {escaped(line)}\n"
    if results.found["void"] if results.is_ab else None:
        yield f"**VOID**: {escaped(results.found['void'])}\n"
    for name, told in sides_text(results.config, results.receipt["declared_axis"]).items():
        yield f"- {name.upper()}: {escaped(told)}"
    for name, facts in headline((run.side, run.identity) for run in results.runs).parts.items():
        yield f"- {escaped(name)}: {', '.join(map(escaped, facts))}"
    devices = escaped(", ".join(results.devices) or "no device")
    if not results.config["measure"]:
        yield f"- compiled on {devices}; nothing was timed"
        return
    yield f"- measured on {devices}"
    if results.is_ab:
        yield "- the ratio is latency b / latency a: below 1, B is faster"
    if results.interpreted:
        yield "- times are Triton's interpreter's on the CPU; they say nothing about a GPU"


def _question(results: Results) -> str:
    if not results.is_ab:
        return f"operators on {results.config['backend']}"
    return "is B faster than A?" if results.config["measure"] else "does B compile to other code than A?"


def _verdicts(results: Results) -> Iterator[str]:
    lines = list(zip(results.operators, verdict_lines(results.found), strict=True))
    lines.sort(key=lambda pair: -WORDS[pair[0]["verdict"]].loudness)
    yield " · ".join(f"{name} {number}" for name, number in results.found["counts"].items() if number)
    yield ""
    heads = verdict_table(results.found, results.config["measure"]).headings
    yield from _table(heads, [_verdict_cells(results, *pair) for pair in lines])
    refused = [(one["op"], line) for one, _ in lines for line in (*one["refusals"], *one["exclusions"])]
    yield from _folded("refused or left out", refused)


def _verdict_cells(results: Results, operator: Mapping[str, Any], line: Mapping[str, Any]) -> tuple[str, ...]:
    evidence = {} if WORDS[operator["verdict"]].silent else operator["evidence"] or {}
    mark = RELEASED if results.released(operator) else ""
    known = evidence.get("ratio")
    bounds = evidence.get("ratio_ci")
    verdict, _, margin = told_verdict(operator).partition(" within ")
    within = f" within {margin}" if margin else ""
    numbers = (
        ratio(known) + mark if known else "–",
        interval(bounds) + mark if bounds else "–",
        str(evidence.get("rounds", "–")),
    )
    told = numbers if results.config["measure"] else ()
    return (escaped(operator["op"]), f"**{verdict}**{within}", *told, escaped(line["reason"]))


def _statuses(results: Results) -> Iterator[str]:
    views = sorted(single_views(results), key=lambda view: view["status"] == "ok")
    table = _OPERATORS if results.config["measure"] else _COMPILED
    lines = [
        table.line({name: view["count" if name == "rows" else name] for name in table.names})
        for view in views
    ]
    rows = [[_cell(value) for value in line.values()] for line in records(frame_of(table, lines))]
    yield from _table(table.headings, rows)


def _cell(value: Any) -> str:
    return "" if value is None else escaped(str(value))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield _row(heads)
    yield _row(["---"] * len(heads))
    yield from map(_row, rows[:MAX_LINES])
    if len(rows) > MAX_LINES:
        yield f"\n{count(len(rows) - MAX_LINES, 'further operator')}: see report.html"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _folded(title: str, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    if pairs:
        yield f"\n<details><summary>{len(pairs)} {title}</summary>\n"
        yield from (f"- {escaped(op)}: {escaped(line)}" for op, line in pairs[:MAX_LINES])
        if len(pairs) > MAX_LINES:
            yield f"- and {len(pairs) - MAX_LINES} more in report.html"
        yield "\n</details>"
