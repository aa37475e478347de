"""For CI: an exit status instead of a table."""

from __future__ import annotations

import json
from pathlib import Path

from zlbench_core.errors import CaliberMismatch


def require_accepted(verdicts: str | Path) -> None:
    """Raises CaliberMismatch, naming the operators, when a summary holds a refusal or a void verdict."""
    found = json.loads(Path(verdicts).read_text(encoding="utf-8"))
    bad = [line for line in found["operators"] if line["verdict"] in ("REFUSED", "VOID") or line["refusals"]]
    if bad:
        told = "; ".join(f"{operator['op']} {operator['verdict']}: {_why(operator)}" for operator in bad)
        raise CaliberMismatch(f"!!! [caliber] {told}")


def _why(operator: dict[str, object]) -> str:
    return ", ".join(dict.fromkeys([*operator["reasons"], *operator["refusals"]]))  # type: ignore[misc]
