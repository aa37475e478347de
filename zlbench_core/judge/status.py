"""How one run of a campaign ended."""

from __future__ import annotations

from zlbench_core.judge.collect import Run
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
