"""For CI: an exit status instead of a table."""

from __future__ import annotations

import json
from pathlib import Path

from zlbench_core.errors import CaliberMismatch


def require_accepted(verdicts: str | Path) -> None:
    """Raises CaliberMismatch, naming the operators, when a summary holds a refusal or a void verdict."""
    found = json.loads(Path(verdicts).read_text(encoding="utf-8"))
    bad = [operator for operator in found["operators"] if operator["verdict"] in ("REFUSED", "VOID")]
    if bad:
        told = "; ".join(f"{operator['op']} {operator['verdict']}: {_why(operator)}" for operator in bad)
        raise CaliberMismatch(f"!!! [caliber] {told}")


def _why(operator: dict[str, object]) -> str:
    return ", ".join(operator["reasons"])  # type: ignore[arg-type]
