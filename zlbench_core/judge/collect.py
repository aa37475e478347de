"""The runs of a campaign as they lie on disk, each with what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from zlbench_core.caliber.recorded import Recorded
from zlbench_core.errors import IdentityError, ReadError
from zlbench_core.records.identity import load_identity
from zlbench_core.records.vouched import check_digests
from zlbench_core.results.reader import read_run
from zlbench_core.results.rows import RowKey, RunResult
from zlbench_core.results.samples import FILE_NAME, RowCalls, TimedCall, calls_of_rows, read_samples


@dataclass(frozen=True)
class Run:
    """One run folder `<op>/<side>/r<round>`; `problem` is why its files cannot be trusted, or None."""

    op: str
    side: str
    round: int
    folder: Path
    identity: dict[str, Any]
    result: RunResult
    problem: str | None

    @property
    def label(self) -> str:
        return f"{self.side} r{self.round}"

    @cached_property
    def recorded(self) -> Recorded:
        """The identity as the caliber reads it; `identity` must not change any more."""
        return Recorded(self.identity)


@dataclass(frozen=True)
class RunCalls:
    """The timed calls of one run, in their order, and which of them each row was made from."""

    calls: tuple[TimedCall, ...] = ()
    by_row: Mapping[RowKey, RowCalls] = field(default_factory=dict)

    def of(self, key: RowKey) -> TimedCall | None:
        """The call behind a row's latency; None where it cannot be told."""
        found = self.by_row.get(key)
        return None if found is None else found.measured


def timed_calls(run: Run) -> RunCalls:
    """The raw samples of a run; none where it timed nothing. Raises ReadError where they cannot be read.

    They are many, so nobody keeps them: one operator's at a time.
    """
    path = run.folder / FILE_NAME
    if run.problem is not None or not path.exists():
        return RunCalls()
    calls = tuple(read_samples(path))
    rounded = not run.result.source.startswith("json")
    return RunCalls(calls, calls_of_rows(run.result.rows, calls, rounded=rounded))


def load_run(folder: Path) -> Run:
    """Read one run. What is missing or corrupt becomes the run's problem, never an empty success."""
    identity: dict[str, Any] = {}
    result, problem = RunResult(), None
    try:
        identity = load_identity(folder)
        broken = check_digests(folder, identity)
        result = read_run(folder, identity=identity)
        if broken:
            problem = f"{', '.join(broken)} in {folder} is not the file that the run's identity vouches for"
        elif identity.get("status") not in ("complete", "failed"):
            problem = f"{folder} is of a run that has not ended (status {identity.get('status')!r})"
        elif identity["status"] == "complete" and not _ended_well(identity):
            told = ", ".join(
                f"{name} {identity.get(name)!r}" for name in ("pytest_exit", "failure", "timed_out")
            )
            problem = f"{folder} is said to be complete, with {told}"
    except (IdentityError, ReadError) as error:
        problem = str(error)
    number = identity.get("round")
    known = (str(identity.get("op")), str(identity.get("side")), number if isinstance(number, int) else 0)
    return Run(*known, folder, identity, result, problem)


def _ended_well(identity: Mapping[str, Any]) -> bool:
    told = identity.get("pytest_exit"), identity.get("failure"), identity.get("timed_out")
    return told == (0, None, False)


def load_runs(folders: list[Path]) -> dict[str, list[Run]]:
    """The runs by operator, each operator's by round and side. A run's place is `<op>/<side>/r<round>`."""
    runs: dict[str, list[Run]] = {}
    for run in sorted(map(_load_in_place, folders), key=lambda run: (run.round, run.side)):
        runs.setdefault(run.op, []).append(run)
    return runs


def _load_in_place(folder: Path) -> Run:
    run = load_run(folder)
    op, side, number = folder.parts[-3:]
    place = (op, side, int(number.removeprefix("r")))
    problem = run.problem
    if problem is None and (run.op, run.side, run.round) != place:
        told = f"op {run.op}, side {run.side}, round {run.round}"
        problem = f"{folder} holds a run of {run.op}/{run.side}/r{run.round} ({told})"
    return replace(run, op=op, side=side, round=place[2], problem=problem)
