"""How one run of a campaign ended."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from zlbench_core.judge.collect import Run, load_run
from zlbench_core.results.status import CRASHED, NO_PINS, OK, SKIPPED, OperatorStatus, operator_status


def status_of(run: Run, measured: bool = True) -> OperatorStatus:
    """How one run ended, with the log that says more; a run whose files are not to be trusted has crashed, whatever
    they say.
    """
    if run.problem:
        return OperatorStatus(CRASHED, run.problem)
    failure = str(run.identity.get("failure") or "")
    if failure.startswith("no pins"):
        return OperatorStatus(NO_PINS, failure)
    if failure.startswith("duet"):
        return OperatorStatus(CRASHED, failure)
    found = operator_status(run.result, run.identity, measured=measured)
    if found.status in (OK, SKIPPED) or not (log := run.folder / "run.log").is_file():
        return found
    return OperatorStatus(found.status, f"{found.reason} ({log})")


def failure_causes(run_dirs: Sequence[Path]) -> list[str]:
    """What the failed ones of these runs say for themselves, each cause once, with its log."""
    failed = [run for run in map(load_run, run_dirs) if run.identity.get("status") == "failed"]
    return list(dict.fromkeys(status_of(run).reason for run in failed))
