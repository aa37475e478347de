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
from zlbench_core.judge.code import shown_lines
from zlbench_core.judge.headline import read_headline
from zlbench_core.judge.hints import spelling_hint
from zlbench_core.judge.receipt import read_receipt
from zlbench_core.results.columns import REAL, TEXT, WHOLE, Column, Table
from zlbench_core.results.console import fitted, text_table
from zlbench_core.results.csv_files import read_table
from zlbench_core.results.rows import positive
from zlbench_core.results.tables import CODE, CODE_SHOWN, STATUS, STATUS_SHOWN
from zlbench_core.verdicts.words import WORDS, Verdict


def show_campaign(folder: Path, width: int | None = None) -> str:
    """The verdicts and statuses below `folder`, results/{backend}. Raises ReadError where there is no summary."""
    found = read_verdicts(folder / "verdicts.json")
    statuses = read_table(folder / "ops_status.csv")
    return fitted("".join(f"{line}\n" for line in _lines(found, statuses, folder, width)), width)


def read_verdicts(path: Path) -> dict[str, Any]:
    """verdicts.json, checked against its schema. Raises ReadError where it is missing or anything else."""
    found = read_object(path, ReadError, what="summary")
    check(found, "verdicts", str(path), ReadError)
    for operator in found["operators"]:
        _check_word(operator, path)
    return found


def _check_word(operator: Mapping[str, Any], path: Path) -> None:
    """The promise of the project: a silent word carries no number."""
    verdict = operator["verdict"]
    if verdict not in WORDS:
        raise ReadError(f"{operator['op']}: verdict is {verdict!r} in {path}; allowed are {', '.join(WORDS)}")
    if WORDS[verdict].silent and operator["evidence"] is not None:
        raise ReadError(f"{operator['op']}: {verdict} has evidence in {path}; it carries no number")


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
        yield text_table(verdict_lines(found), verdict_table(found).names, width)
        yield from () if measured else _code_table(folder, width)
    if len(found["sides"]) == 1 or any(line.get("status") != "ok" for line in statuses):
        yield _status_table(folder, len(found["sides"]) == 1, width)
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
    from zlbench_core.results.frames import frame_of, read_frame, records, terminal_text

    lines = shown_lines(records(read_frame(folder / "code.csv", CODE)))
    yield terminal_text(CODE_SHOWN, frame_of(CODE_SHOWN, lines), width)


def _status_table(folder: Path, one_side: bool, width: int | None) -> str:
    # Not above: every start of Snakemake imports this module, and pandas would cost it 0.3 s.
    from zlbench_core.results.frames import read_frame, terminal_text

    speedups = mean_speedups(read_table(folder / "summary.csv")) if one_side else {}
    statuses = read_frame(folder / "ops_status.csv", STATUS)
    told = statuses["op"].map(speedups.get).astype("Float64")
    return terminal_text(STATUS_SHOWN, statuses.assign(speedup=told)[list(STATUS_SHOWN.names)], width)


def interval_name(found: Mapping[str, Any]) -> str:
    """What every interval of verdicts.json is, with its level: `95 % interval`."""
    return f"{level(1 - found['alpha'])} interval"


def told_verdict(operator: Mapping[str, Any]) -> str:
    """The verdict of an operator or a row; SAME is said of a margin, and with it."""
    evidence = operator.get("evidence") or operator
    within = operator["verdict"] == Verdict.SAME and evidence.get("delta") is not None
    return f"SAME within {percent(evidence['delta'])}" if within else operator["verdict"]


def verdict_table(found: Mapping[str, Any], measured: bool = True) -> Table:
    """The columns of the verdict table that a terminal and Markdown show; without a measurement it has no numbers."""
    numbers = (
        Column("ratio", REAL, "latency b over latency a", heading="ratio B/A"),
        Column(interval_name(found), TEXT, "of the ratio, from its lower bound to its upper one"),
        Column("rounds", WHOLE, "the rounds that count"),
    )
    verdict = Column(
        "verdict", TEXT, "its word; with ! where a mismatch of calibers was released", known=True
    )
    told = numbers if measured else ()
    return Table("verdicts", (STATUS["op"], verdict, *told, STATUS["reason"]))


def verdict_lines(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The lines of the printed verdict table."""
    lines = []
    hint = spelling_hint(found)
    for operator in found["operators"]:
        evidence = operator["evidence"] or {}
        bounds = evidence.get("ratio_ci")
        reasons = [operator["note"], *operator["reasons"], operator["detail"]]
        reasons += [f"{operator['rounds_needed']} rounds needed"] if operator["rounds_needed"] else []
        reasons += [f"same code; {hint}"] if hint and operator["verdict"] == Verdict.NO_CODE_CHANGE else []
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
