"""For CI: an exit status instead of a table."""

from __future__ import annotations

from pathlib import Path

from zlbench_core.errors import CaliberMismatch
from zlbench_core.judge.show import read_verdicts
from zlbench_core.verdicts.words import WORDS


def require_accepted(verdicts: str | Path) -> None:
    """Raises CaliberMismatch, naming the operators, when a summary holds a refusal or a void verdict; ReadError
    when it cannot be read."""
    found = read_verdicts(Path(verdicts))
    if found.get("void"):
        raise CaliberMismatch(f"!!! [caliber] the campaign is VOID: {found['void']}")
    bad = [line for line in found["operators"] if WORDS[line["verdict"]].exit_status or line["refusals"]]
    if bad:
        told = "; ".join(f"{operator['op']} {operator['verdict']}: {_why(operator)}" for operator in bad)
        raise CaliberMismatch(f"!!! [caliber] {told}")


def _why(operator: dict[str, object]) -> str:
    return ", ".join(dict.fromkeys([*operator["reasons"], *operator["refusals"]]))  # type: ignore[misc]
