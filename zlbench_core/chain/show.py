"""A finished campaign as text: the verdict table first, then whatever did not go well."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from zlbench_core.errors import ReadError
from zlbench_core.results.console import status_table, verdict_table
from zlbench_core.results.tables import read_table
from zlbench_core.schemas import check


def show_campaign(folder: Path, width: int | None = None) -> str:
    """The verdicts and statuses below `folder`, results/{backend}. Raises ReadError where there is no summary."""
    found = read_verdicts(folder / "verdicts.json")
    statuses = read_table(folder / "ops_status.csv")
    return "".join(f"{line}\n" for line in _lines(found, statuses, folder, width))


def read_verdicts(path: Path) -> dict[str, Any]:
    """verdicts.json, checked against its schema. Raises ReadError where it is missing or anything else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ReadError(f"no summary: {path} does not exist") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ReadError(f"unreadable summary {path}: {' '.join(str(error).split())}") from None
    check(found, "verdicts", str(path), ReadError)
    return found


def _lines(
    found: Mapping[str, Any], statuses: list[dict[str, str]], folder: Path, width: int | None
) -> Iterator[str]:
    devices = sorted({line["device"] for line in statuses if line.get("device")})
    yield f"\nmeasured on {', '.join(devices) or 'no device'}"
    if found["operators"]:
        yield f"a against b, which differ in {', '.join(found['declared_axis'])}; ratio is latency b / latency a\n"
        yield verdict_table(verdict_lines(found), width)
    if not found["operators"] or any(line.get("status") != "ok" for line in statuses):
        yield status_table(statuses, width)
    word = "released" if found["allow_caliber_mismatch"] else "refused"
    for operator in found["operators"]:
        yield from (f"!!! [caliber] {operator['op']}: {refusal} ({word})" for refusal in operator["refusals"])
        yield from (f"[caliber] {operator['op']}: {hazard}" for hazard in operator["hazards"])
    yield f"tables: {folder}/summary.csv, ab.csv, ops_status.csv; verdicts.json, receipt.json"


def verdict_lines(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The lines of the printed verdict table."""
    lines = []
    released = found["allow_caliber_mismatch"]
    for operator in found["operators"]:
        evidence = operator["evidence"] or {}
        low, high = evidence.get("ratio_ci") or (None, None)
        reasons = [*operator["reasons"], operator["detail"]]
        reasons += [f"{operator['rounds_needed']} rounds needed"] if operator["rounds_needed"] else []
        reasons += ["CALIBER MISMATCH RELEASED"] if released and operator["refusals"] else []
        lines.append(
            {
                "op": operator["op"],
                "verdict": operator["verdict"],
                "ratio": evidence.get("ratio"),
                "ci_low": low,
                "ci_high": high,
                "rounds": evidence.get("rounds"),
                "reason": "; ".join(filter(None, reasons)),
            }
        )
    return lines
