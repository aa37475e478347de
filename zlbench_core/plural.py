"""How many of something, in words."""

from __future__ import annotations


def count(amount: int, noun: str) -> str:
    """`1 key`, `2 keys`."""
    return f"{amount} {noun}" + ("" if amount == 1 else "s")
