"""zlbench compare: two runs that exist already, if their calibers allow it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zlbench_core.caliber import guard
from zlbench_core.caliber.guard import incomparable
from zlbench_core.errors import ArchiveError, ConfigError, IdentityError
from zlbench_core.judge.collect import Run, load_run
from zlbench_core.judge.guards import unfinished, untrusted
from zlbench_core.judge.ir.compare import IDENTICAL, compare_archives
from zlbench_core.records.identity import identity_path, load_identity
from zlbench_core.results.console import text_table
from zlbench_core.results.fallbacks import exclusion
from zlbench_core.results.pairing import pair_rows
from zlbench_core.verdicts.stored import RELEASED

ONE_ROUND = "one round a side: no error bar and no verdict; the rounds of a campaign give both"
COLUMNS = ("op", "dtype", "mode", "size", "latency_a_ms", "latency_b_ms", "ratio", "note")


@dataclass(frozen=True)
class Comparison:
    """What two runs say about each other; `rows` is empty where a complaint was not released."""

    complaints: tuple[str, ...]
    hazards: tuple[str, ...]
    excluded: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    devices: tuple[str, ...] = ()  # of the rows: an interpreter's times say nothing of a GPU

    @property
    def note(self) -> str | None:
        return ONE_ROUND if self.rows else None

    def to_json(self) -> dict[str, Any]:
        lists = {
            name: list(getattr(self, name))
            for name in ("complaints", "hazards", "excluded", "rows", "devices")
        }
        return {**lists, "note": self.note}

    def to_text(self, width: int | None = None) -> str:
        lines = [f"[caliber] {line}" for line in self.hazards] + [
            f"not compared: {line}" for line in self.excluded
        ]
        mark = "every number below is on DIFFERENT CALIBERS\n" if self.complaints and self.rows else ""
        told = f"measured on {', '.join(self.devices)}\n"
        table = f"{told}{text_table(self.rows, COLUMNS, width)}{self.note}\n" if self.rows else ""
        return "".join(f"{line}\n" for line in lines) + mark + table


def compare_runs(a_dir: Path, b_dir: Path, *, release: bool = False, axis: Sequence[str] = ()) -> Comparison:
    """Compare run B with run A. One pair of runs is no evidence of a change; it is a look at what was measured.

    `axis`: what the caller says that the runs differ in ("env:NAME", "python", "provider_dir"); without it what
    both runs were declared to differ in. Raises IdentityError where there is no such run.
    """
    if wrong := [one for one in axis if not one.startswith("env:") and one not in ("python", "provider_dir")]:
        raise ConfigError(f"axis is {wrong[0]!r}; env:NAME, python or provider_dir is allowed")
    runs = [("a", a_dir), ("b", b_dir)]
    for _, folder in runs:
        if not identity_path(folder).exists():
            load_identity(folder)  # says that there is none
    a, b = load_run(a_dir), load_run(b_dir)
    if other := _other_operator(a, b):
        return Comparison((other,), (), (), ())
    complaints = incomparable(runs, axis if axis else _declared(a_dir, b_dir))
    loaded = [("a", a), ("b", b)]
    complaints += untrusted(loaded) + unfinished(loaded)
    hazards = [*guard.hazards(runs), *_same_code(a_dir, b_dir)]
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
                    "note": RELEASED if complaints else "",
                }
            )
    devices = dict.fromkeys(str(run.identity.get("device")) for run in (a, b))
    return Comparison(tuple(complaints), tuple(hazards), tuple(excluded), tuple(rows), tuple(devices))


def _other_operator(a: Run, b: Run) -> str | None:
    """What makes every other question about these two runs idle; no release can pair their rows."""
    ops = [run.identity.get("op") for run in (a, b)]
    if None in ops or ops[0] == ops[1]:
        return None
    return f"op: a is a run of {ops[0]}, b of {ops[1]}; two runs of one operator can be compared"


def _same_code(a_dir: Path, b_dir: Path) -> list[str]:
    try:
        same = compare_archives([a_dir], [b_dir]).verdict == IDENTICAL
    except ArchiveError:
        return []
    return ["ir: both runs ran the same generated code, so every ratio below is noise"] if same else []


def _declared(*folders: Path) -> list[str]:
    """The axis that both runs were declared to differ in; one that only one of them declares does not count.

    Two rounds of one side were not declared to differ in anything.
    """
    try:
        a, b = (load_identity(folder) for folder in folders)
    except IdentityError:
        return []
    axis = a.get("declared") or []
    return axis if axis == b.get("declared") and a.get("side") != b.get("side") else []
