"""A finished campaign as text: the verdict table first, then whatever did not go well."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from zlbench_core.campaign.schema_files import check
from zlbench_core.common.files import read_object
from zlbench_core.common.text import level, percent
from zlbench_core.errors import ReadError
from zlbench_core.judge.code import COLUMNS, shown_lines
from zlbench_core.judge.headline import read_headline
from zlbench_core.judge.hints import spelling_hint
from zlbench_core.judge.receipt import read_receipt
from zlbench_core.results.console import fitted, status_table, text_table
from zlbench_core.results.rows import positive
from zlbench_core.results.tables import read_table


def show_campaign(folder: Path, width: int | None = None) -> str:
    """The verdicts and statuses below `folder`, results/{backend}. Raises ReadError where there is no summary."""
    found = read_verdicts(folder / "verdicts.json")
    statuses: Sequence[Mapping[str, Any]] = read_table(folder / "ops_status.csv")
    if len(found["sides"]) == 1:
        speedups = mean_speedups(read_table(folder / "summary.csv"))
        statuses = [{**line, "speedup": speedups.get(line["op"])} for line in statuses]
    return fitted("".join(f"{line}\n" for line in _lines(found, statuses, folder, width)), width)


def read_verdicts(path: Path) -> dict[str, Any]:
    """verdicts.json, checked against its schema. Raises ReadError where it is missing or anything else."""
    found = read_object(path, ReadError, what="summary")
    check(found, "verdicts", str(path), ReadError)
    return found


def _lines(
    found: Mapping[str, Any], statuses: Sequence[Mapping[str, Any]], folder: Path, width: int | None
) -> Iterator[str]:
    devices = ", ".join(sorted({line["device"] for line in statuses if line.get("device")})) or "no device"
    measured = _is_measured(folder)
    yield f"\nmeasured on {devices}" if measured else f"\ncompiled on {devices}; nothing was timed"
    if found["void"]:
        yield f"!!! VOID, and nothing of it may be quoted: {found['void']}\n"
    yield from (f"{name}: {', '.join(facts)}" for name, facts in read_headline(folder).parts.items())
    if found["operators"] and len(found["sides"]) == 2:
        ratio = "; ratio is latency b / latency a" if measured else ""
        yield f"a against b, which differ in {', '.join(found['declared_axis'])}{ratio}\n"
    if found["operators"]:
        yield text_table(verdict_lines(found), _columns(found), width)
        yield from () if measured else _code_table(folder, width)
    if len(found["sides"]) == 1 or any(line.get("status") != "ok" for line in statuses):
        yield status_table(statuses, width)
    word = "released" if found["allow_caliber_mismatch"] else "refused"
    for operator in found["operators"]:
        yield from (f"!!! [caliber] {operator['op']}: {refusal} ({word})" for refusal in operator["refusals"])
        yield from (f"[caliber] {operator['op']}: {hazard}" for hazard in operator["hazards"])
    if (folder / "report.html").exists():
        told = ", summary.md" if (folder / "summary.md").exists() else ""
        yield f"report: {folder}/report.html{told}"
    yield f"tables: {folder}/summary.csv, ab.csv, ops_status.csv, code.csv; verdicts.json, receipt.json"


def _is_measured(folder: Path) -> bool:
    try:
        return bool(read_receipt(folder)["config"].get("measure", True))
    except ReadError:
        return True  # without a receipt nothing stands, and the command says so first


def _code_table(folder: Path, width: int | None) -> Iterator[str]:
    """What a campaign without measurements is about: the code, operator by operator."""
    yield "changes of side b over the variants that differ; zlbench ir diff RUN_A RUN_B shows the code\n"
    yield text_table(shown_lines(read_table(folder / "code.csv")), COLUMNS, width)


def interval_name(found: Mapping[str, Any]) -> str:
    """What every interval of verdicts.json is, with its level: `95 % interval`."""
    return f"{level(1 - found['alpha'])} interval"


def told_verdict(operator: Mapping[str, Any]) -> str:
    """The verdict of an operator or a row; SAME is said of a margin, and with it."""
    evidence = operator.get("evidence") or operator
    within = operator["verdict"] == "SAME" and evidence.get("delta") is not None
    return f"SAME within {percent(evidence['delta'])}" if within else operator["verdict"]


def _columns(found: Mapping[str, Any]) -> tuple[str, ...]:
    return ("op", "verdict", "ratio", interval_name(found), "rounds", "reason")


def verdict_lines(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The lines of the printed verdict table."""
    lines = []
    hint = spelling_hint(found)
    for operator in found["operators"]:
        evidence = operator["evidence"] or {}
        bounds = evidence.get("ratio_ci")
        reasons = [operator["note"], *operator["reasons"], operator["detail"]]
        reasons += [f"{operator['rounds_needed']} rounds needed"] if operator["rounds_needed"] else []
        reasons += [f"same code; {hint}"] if hint and operator["verdict"] == "NO CODE CHANGE" else []
        lines.append(
            {
                "op": operator["op"],
                "verdict": told_verdict(operator) + ("!" if operator["note"] else ""),
                "ratio": evidence.get("ratio"),
                interval_name(found): " to ".join(f"{bound:.4g}" for bound in bounds) if bounds else None,
                "rounds": evidence.get("rounds"),
                "reason": "; ".join(filter(None, reasons)),
            }
        )
    return lines


def mean_speedups(lines: Sequence[Mapping[str, str]]) -> dict[str, float]:
    """By operator the geometric mean of its rows' speedups over torch; rows without one are left out."""
    logs: dict[str, list[float]] = {}
    for line in lines:
        speedup = positive(line["speedup"])
        if speedup is not None:
            logs.setdefault(line["op"], []).append(math.log(speedup))
    return {op: math.exp(math.fsum(values) / len(values)) for op, values in logs.items()}
