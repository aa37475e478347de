"""One operator for the page: its line in the verdict table, its sentences, its rows and plots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from zlbench_core.common.text import percent
from zlbench_core.judge.show import told_verdict, verdict_lines
from zlbench_core.report.explain import explain
from zlbench_core.report.plots import Plot, forest, round_plots
from zlbench_core.report.series import row_label
from zlbench_core.report.source import Results
from zlbench_core.report.variants import gate_view
from zlbench_core.report.words import interval, number, probability, ratio
from zlbench_core.verdicts.words import WORDS

RELEASED = " ⚠ released"
FLAG = "⚠ "  # before a name in a plot, where a narrow window cuts the end
MANY = 40  # operators, from which on each of them gets fewer plots
_FEW_PLOTS = 4


def operator_views(results: Results) -> list[dict[str, Any]]:
    """Everything that the page says of each operator of an A/B campaign, in the order of the campaign."""
    lines = verdict_lines(results.found)
    return [
        _view(results, place, operator, line)
        for place, (operator, line) in enumerate(zip(results.operators, lines, strict=True))
    ]


def _view(results: Results, place: int, operator: dict[str, Any], line: dict[str, Any]) -> dict[str, Any]:
    op, evidence = operator["op"], operator["evidence"] or {}
    released = results.released(operator)
    gate = results.gates.get(op)
    mark = FLAG if released else ""
    rows = [] if WORDS[operator["verdict"]].silent else operator["rows"]
    return {
        "op": op,
        "id": f"op-{place}",
        "verdict": operator["verdict"],
        "told": told_verdict(operator),
        "released": released,
        "ratio": ratio(evidence["ratio"]) if evidence.get("ratio") else "–",
        "interval": interval(evidence.get("ratio_ci")),
        "rounds": f"{evidence['rounds']} of {evidence['rounds_run']}" if evidence else "–",
        "p": probability(operator["adjusted_p"] if evidence else None),
        "margin": percent(evidence["delta"]) if evidence else "–",
        "why": line["reason"] or WORDS[operator["verdict"]].meaning,
        "sentences": explain(operator, results.found, gate),
        "refusals": operator["refusals"],
        "hazards": operator["hazards"],
        "exclusions": [*operator["exclusions"], *operator.get("excluded", ())],
        "rows": _rows(rows, _notes(results.summary, op)),
        "forest": forest(
            f"rows-{place}", f"{mark}Rows of {op}", [(mark + _label(op, row), row) for row in rows]
        ),
        "plots": round_plots(f"round-{place}", results.series.get(op, []), mark, _most(results)),
        "series": len(results.series.get(op, [])),
        "gate": gate_view(gate) if gate else None,
    }


def _most(results: Results) -> int:
    return _FEW_PLOTS if len(results.config["ops"]) > MANY else 12


def overview(results: Results) -> Plot | None:
    """The forest of all operators."""
    items = [(f"{FLAG if results.released(one) else ''}{one['op']}", one) for one in results.operators]
    return forest("overview", "Ratio of each operator, with its interval", items)


def _label(op: str, row: Mapping[str, Any]) -> str:
    return row_label(op, op, row["dtype"], row["size"], row["occurrence"])


def _notes(summary: Iterable[Mapping[str, str]], op: str) -> dict[tuple[str, ...], str]:
    return {
        (line["dtype"], line["mode"], line["size"], line["occurrence"]): " ".join(
            filter(None, (line["fallback"], line["note"]))
        )
        for line in summary
        if line["op"] == op
    }


def _rows(rows: Iterable[dict[str, Any]], notes: dict[tuple[str, ...], str]) -> list[dict[str, Any]]:
    return [
        {
            "dtype": row["dtype"].removeprefix("torch."),
            "size": row["size"] + (f" #{row['occurrence']}" if row["occurrence"] else ""),
            "a": number(row["t_a_ms"]),
            "b": number(row["t_b_ms"]),
            "ratio": "–" if row["ratio"] is None else ratio(row["ratio"]),
            "interval": interval(row["ratio_ci"]),
            "p": probability(row["adjusted_p"]),
            "rounds": row["rounds"],
            "verdict": row["verdict"],
            "told": told_verdict(row),
            "note": notes.get((row["dtype"], row["mode"], row["size"], str(row["occurrence"])), ""),
        }
        for row in rows
    ]


def single_views(results: Results) -> list[dict[str, Any]]:
    """The operators of a campaign with one side: status, speedup over torch, rows."""
    return [_single(results, place, op) for place, op in enumerate(results.config["ops"])]


def _single(results: Results, place: int, op: str) -> dict[str, Any]:
    lines = [line for line in results.summary if line["op"] == op]
    status = next((line for line in results.statuses if line["op"] == op), {})
    speedups = sorted(float(line["speedup"]) for line in lines if line["speedup"])
    plots = round_plots(f"round-{place}", results.series.get(op, []), "", _most(results))
    judged = next((one for one in results.operators if one["op"] == op), {})
    return {
        "op": op,
        "id": f"op-{place}",
        "released": bool(judged) and results.released(judged),
        **{name: judged.get(name, []) for name in ("refusals", "exclusions", "hazards")},
        "status": status.get("status", "not run"),
        "reason": status.get("reason", ""),
        "count": len(lines),
        "rounds": status.get("rounds", "0"),
        "speedup": _speedup(speedups),
        "rows": [
            {
                "dtype": line["dtype"].removeprefix("torch."),
                "size": line["size"] + (f" #{line['occurrence']}" if line["occurrence"] != "0" else ""),
                "torch": number(line["latency_torch_ms"]),
                "a": number(line["latency_a_ms"]),
                "speedup": number(line["speedup"]),
                "rounds": line["rounds"],
                "note": " ".join(filter(None, (line["fallback"], line["note"]))),
            }
            for line in lines
        ],
        "plots": plots,
        "series": len(results.series.get(op, [])),
    }


def _speedup(values: list[float]) -> str:
    if not values:
        return "–"
    low, high = values[0], values[-1]
    return number(low, 3) if low == high else f"{number(low, 3)} to {number(high, 3)}"
