"""The name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean softmax?`; empty where no known name is near."""
    near = get_close_matches(name, sorted(known), n=1)
    return f"did you mean {near[0]}?" if near else ""
