"""How many of something, and which, in words."""

from __future__ import annotations

from collections.abc import Sequence


def count(amount: int, noun: str) -> str:
    """`1 key`, `2 keys`."""
    return f"{amount} {noun}" + ("" if amount == 1 else "s")


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
