"""What a reader of equal code is told to look at first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zlbench_core.verdicts.words import JUDGED


def spelling_hint(found: Mapping[str, Any]) -> str:
    """Advice for NO CODE CHANGE, where the sides of verdicts.json differ in variables and no operator's code did.

    Empty where nothing of the kind is likely: a variable that reached one operator is spelt right.
    """
    names = [axis.removeprefix("env:") for axis in found["declared_axis"] if axis.startswith("env:")]
    if not names or any(operator["verdict"] in JUDGED for operator in found["operators"]):
        return ""
    return f"if {' or '.join(names)} should have changed it, check the spelling"
