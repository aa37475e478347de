"""Functions of other modules that are replaced for the length of a session, and put back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Patches:
    def __init__(self) -> None:
        self._originals: list[tuple[Any, str, Any]] = []

    def replace(self, owner: Any, name: str, make: Callable[[Any], Any]) -> Any:
        """Put `make(original)` in the place of `owner.name`; returns the original."""
        original = getattr(owner, name)
        self._originals.append((owner, name, original))
        setattr(owner, name, make(original))
        return original

    def undo(self) -> None:
        while self._originals:
            owner, name, original = self._originals.pop()
            setattr(owner, name, original)
