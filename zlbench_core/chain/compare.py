"""zlbench compare: two runs that exist already, if their calibers allow it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zlbench_core.caliber import caliber_complaints, caliber_hazards, missing_fields, undeclared_differences
from zlbench_core.chain.collect import load_run
from zlbench_core.chain.status import status_of
from zlbench_core.errors import ArchiveError, IdentityError
from zlbench_core.identity import load_identity
from zlbench_core.ir.compare import IDENTICAL, compare_archives
from zlbench_core.results.console import text_table
from zlbench_core.results.fallbacks import exclusion
from zlbench_core.results.pairing import pair_rows
from zlbench_core.results.status import OK

COLUMNS = ("op", "dtype", "mode", "size", "latency_a_ms", "latency_b_ms", "ratio")


@dataclass(frozen=True)
class Comparison:
    """What two runs say about each other; `rows` is empty where a complaint was not released."""

    complaints: tuple[str, ...]
    hazards: tuple[str, ...]
    excluded: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]

    def to_json(self) -> dict[str, Any]:
        return {name: list(getattr(self, name)) for name in ("complaints", "hazards", "excluded", "rows")}

    def to_text(self) -> str:
        lines = [f"[caliber] {line}" for line in self.hazards] + [
            f"not compared: {line}" for line in self.excluded
        ]
        mark = "every number below is on DIFFERENT CALIBERS\n" if self.complaints and self.rows else ""
        table = text_table(self.rows, COLUMNS) if self.rows else ""
        return "".join(f"{line}\n" for line in lines) + mark + table


def compare_runs(a_dir: Path, b_dir: Path, *, release: bool = False) -> Comparison:
    """Compare run B with run A. One pair of runs is no evidence of a change; it is a look at what was measured."""
    runs = [("a", a_dir), ("b", b_dir)]
    complaints = caliber_complaints(runs)
    if not any(line.startswith("run_identity") for line in complaints):
        complaints += missing_fields(runs) + undeclared_differences(runs, _declared(a_dir, b_dir))
    a, b = load_run(a_dir.absolute()), load_run(b_dir.absolute())
    for label, run in (("a", a), ("b", b)):
        if run.problem:
            complaints.append(f"run_identity: {label}: {run.problem}")
        elif (status := status_of(run)).status != OK:
            complaints.append(f"status: {label} {status.status}: {status.reason}")
    hazards = [*caliber_hazards(runs), *_same_code(a_dir, b_dir)]
    complaints = list(dict.fromkeys(complaints))
    if complaints and not release:
        return Comparison(tuple(complaints), tuple(hazards), (), ())
    found = pair_rows(list(a.result.rows), list(b.result.rows))
    excluded = [f"{row.dtype} {row.size}: only in a" for row in found.only_a]
    excluded += [f"{row.dtype} {row.size}: only in b" for row in found.only_b] + list(map(str, found.refused))
    rows = []
    for pair in found.paired:
        reason = exclusion(a.result.row_markers.get(pair.a.key, ()), b.result.row_markers.get(pair.b.key, ()))
        if reason:
            excluded.append(f"{pair.a.dtype} {pair.a.size}: {reason}")
        else:
            rows.append(
                {
                    "op": pair.a.op,
                    "dtype": pair.a.dtype,
                    "mode": pair.a.mode,
                    "size": pair.a.size,
                    "latency_a_ms": pair.a.latency,
                    "latency_b_ms": pair.b.latency,
                    "ratio": pair.ratio,
                }
            )
    return Comparison(tuple(complaints), tuple(hazards), tuple(excluded), tuple(rows))


def _same_code(a_dir: Path, b_dir: Path) -> list[str]:
    try:
        same = compare_archives([a_dir], [b_dir]).verdict == IDENTICAL
    except ArchiveError:
        return []
    return ["ir: both runs ran the same generated code, so every ratio below is noise"] if same else []


def _declared(*folders: Path) -> list[str]:
    """The axis that both runs were declared to differ in; one that only one of them declares does not count."""
    axes = []
    for folder in folders:
        try:
            axes.append(load_identity(folder).get("declared") or [])
        except IdentityError:
            return []
    return axes[0] if axes[0] == axes[1] else []
