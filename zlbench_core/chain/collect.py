"""The runs of a campaign as they lie on disk, each with what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zlbench_core.errors import IdentityError, ReadError
from zlbench_core.identity import load_identity
from zlbench_core.results.reader import read_run
from zlbench_core.results.rows import RunResult
from zlbench_core.runner import check_digests


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

    @property
    def complete(self) -> bool:
        return self.problem is None and self.identity.get("status") == "complete"


def load_run(folder: Path) -> Run:
    """Read one run. What is missing or corrupt becomes the run's problem, never an empty success."""
    op, side, number = folder.parts[-3:]
    identity: dict[str, Any] = {}
    result, problem = RunResult(), None
    try:
        identity = load_identity(folder)
        broken = check_digests(folder)
        result = read_run(folder)
        if broken:
            problem = f"{', '.join(broken)} in {folder} is not the file that the run's identity vouches for"
    except (IdentityError, ReadError) as error:
        problem = str(error)
    return Run(op, side, int(number.removeprefix("r")), folder, identity, result, problem)


def load_runs(folders: list[Path]) -> dict[str, list[Run]]:
    """The runs by operator, each operator's by round and side."""
    runs: dict[str, list[Run]] = {}
    for run in sorted(map(load_run, folders), key=lambda run: (run.round, run.side)):
        runs.setdefault(run.op, []).append(run)
    return runs
