"""The guards beyond the caliber: that the runs are this campaign's, and that neither side changed on the way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zlbench_core.caliber.guard import undeclared_differences
from zlbench_core.common.files import read_object, sha256_of
from zlbench_core.errors import ArchiveError, ReadError
from zlbench_core.ir.archive import Archive, read_archive
from zlbench_core.judge.collect import Run
from zlbench_core.judge.ir.compare import DIFFERENT, IDENTICAL, GateResult, compare_read
from zlbench_core.judge.ir.gate import SCHEMA_VERSION as GATE_SCHEMA
from zlbench_core.judge.status import status_of
from zlbench_core.results.status import OK

COMPOSED = {"PYTHONPATH"}  # a side's own stands in it between zlbench's and the provider's
Labelled = Sequence[tuple[str, Run]]


def untrusted(runs: Labelled) -> list[str]:
    """Runs whose files cannot be trusted, and why."""
    return [f"run_identity: {label}: {run.problem}" for label, run in runs if run.problem]


def unfinished(runs: Labelled, measured: bool = True) -> list[str]:
    """Trusted runs that did not end well: what such a run did not get to record is no second mistake."""
    found = [(label, status_of(run, measured)) for label, run in runs if run.problem is None]
    return [f"status: {label} {end.status}: {end.reason}" for label, end in found if end.status != OK]


def foreign_runs(runs: Sequence[Run], plan: str | None) -> list[str]:
    """Runs that another campaign made. `plan` is the digest of this campaign's plan for the operator."""
    foreign = [run.label for run in runs if plan is not None and run.identity.get("plan") != plan]
    return [f"plan: {', '.join(foreign)} was not made by this campaign as it is now"] if foreign else []


def repeated_runs(runs: Sequence[Run]) -> list[str]:
    """One run that stands for two: a copy is no further evidence."""
    first: dict[object, str] = {}
    repeated = []
    for run in runs:
        started = run.identity.get("started")
        if started in first:
            repeated.append(f"started: {run.label} is a copy of {first[started]}")
        first.setdefault(started, run.label)
    return repeated


def changing_sides(runs: Sequence[Run], sides: Sequence[str]) -> list[str]:
    """What changed within one side from round to round: there, nothing is declared to differ."""
    complaints = []
    for side in sides:
        mine = [run for run in runs if run.side == side]
        complaints += undeclared_differences([(run.label, run.recorded) for run in mine], [])
        complaints += _other_code(mine)
    return complaints


def _other_code(runs: Sequence[Run]) -> list[str]:
    """Each later run against the first, whose archive is read once: every stage of it is a file."""
    if len(runs) < 2:
        return []
    complaints, first = [], _read_archive(runs[0])
    found: dict[str, str | None] = {}  # by index: equal ones name equal files, and reading checked every one
    for run in runs[1:]:
        reason: str | None
        if isinstance(first, ArchiveError):
            reason = str(first)
        elif isinstance(other := _read_archive(run), ArchiveError):
            reason = str(other)
        else:
            if other.digest not in found:
                found[other.digest] = _difference(first, other)
            reason = found[other.digest]
        if reason is not None:
            complaints.append(f"ir: {run.label} ran other code than {runs[0].label} ({reason})")
    return complaints


def _difference(first: Archive, other: Archive) -> str | None:
    try:
        found = compare_read([first], [other])
    except ArchiveError as error:  # of a stage, which is read where other rules made its digest
        return str(error)
    return None if found.verdict == IDENTICAL else found.reason or found.first_stage or _one_sided(found)


def _one_sided(found: GateResult) -> str:
    """Variants that one of the runs compiled and the other did not, by kernel."""
    kernels = sorted({pair.variant.kernel for pair in found.pairs if pair.only_in})
    return f"{', '.join(kernels)} compiled for other arguments: a variant that one of them has, the other has not"


def _read_archive(run: Run) -> Archive | ArchiveError:
    try:
        return read_archive(run.folder)
    except ArchiveError as error:
        return error


def unapplied(runs: Sequence[Run]) -> list[str]:
    """Variables that a side was asked to set and that its process did not have, or had otherwise."""
    complaints = []
    for run in runs:
        asked = _asked_env(run)
        for name in sorted(set(asked) & {axis[4:] for axis in run.identity.get("declared") or ()} - COMPOSED):
            read = ((run.identity.get("environment") or {}).get("variables") or {}).get(name)
            if read != asked[name] and not str(read).startswith("sha256:"):
                told = "nothing" if read is None else read
                complaints.append(
                    f"environment.variables.{name}: {run.label} ran with {told}, asked was {asked[name]}"
                )
    return complaints


def _asked_env(run: Run) -> dict[str, str]:
    path = run.folder / "header.json"
    if not path.is_file():
        return {}
    side = read_object(path, ReadError, what="header").get("side")
    env = (side.get("env") or {}) if isinstance(side, dict) else {}
    if not isinstance(env, dict):
        raise ReadError(f"header {path}: env of the side is {type(env).__name__}; an object is expected")
    return env


def gate_refusals(gate: dict[str, Any] | None, op: str) -> list[str]:
    """Why the operator's gate says nothing about these runs; empty where it does."""
    if gate is None:
        return ["ir_gate: there is none, so it is not known whether the generated code differs"]
    if (gate.get("schema_version"), gate.get("status"), gate.get("op")) != (GATE_SCHEMA, "complete", op):
        return [f"ir_gate: it is not a complete gate of {op}"]
    verdict, digests = gate.get("verdict"), gate.get("digests")
    if verdict == "unknown":
        return [f"ir_gate: not known whether the generated code differs: {gate.get('reason')}"]
    if verdict not in (IDENTICAL, DIFFERENT) or not isinstance(digests, dict):
        return [f"ir_gate: its verdict {verdict!r} rests on nothing that it names"]
    changed = [path for path, digest in digests.items() if not _is(Path(path), digest)]
    if changed or len(digests) < 2:
        return [f"ir_gate: {', '.join(changed) or 'an archive'} is not what the gate compared"]
    return []


def _is(path: Path, digest: str) -> bool:
    try:
        return path.is_file() and sha256_of(path) == digest
    except (OSError, ValueError):  # a name that no file can have
        return False
