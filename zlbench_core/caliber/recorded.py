"""An identity as comparisons read it: flattened once, since every guard of an operator asks for the same fields."""

from __future__ import annotations

import marshal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from zlbench_core.caliber.fields import is_compared

_FALLBACKS = "replay.fallbacks."
_PLAIN = {str, int, float, bool, list, type(None)}
_NOTHING = repr(None)  # what was not recorded is compared as null


@dataclass(frozen=True)
class Recorded:
    """One identity, which must not change any more. Nested names are joined by dots."""

    identity: Mapping[str, Any]

    @cached_property
    def flat(self) -> dict[str, Any]:
        flat: dict[str, Any] = {}
        _flatten(self.identity, flat, "")
        return flat

    @cached_property
    def compared(self) -> dict[str, str]:
        """The fields that plain comparison judges, each as its repr: that tells 1 from true, and 1 from 1.0."""
        return {name: repr(value) for name, value in self.flat.items() if is_compared(name)}

    @cached_property
    def fallbacks(self) -> dict[str, Any]:
        """How often the run fell back from its pins, by reason; reasons that never occurred are left out."""
        return {
            name.removeprefix(_FALLBACKS): value
            for name, value in self.flat.items()
            if name.startswith(_FALLBACKS) and value
        }

    @cached_property
    def used(self) -> bytes:
        """The configs that were launched, equal where their reprs are: marshal needs a fifth of the time for them."""
        # Version 0 writes a text the same way wherever it is stored.
        return marshal.dumps(self.flat.get("replay.used"), 0)


def differing_fields(runs: Sequence[Recorded]) -> set[str]:
    """The compared fields that are not the same in all runs."""
    first, *others = [one.compared for one in runs] or [{}]
    return {
        name
        for other in others
        if other != first
        for name in first.keys() | other.keys()
        if first.get(name, _NOTHING) != other.get(name, _NOTHING)
    }


def _flatten(identity: Mapping[str, Any], flat: dict[str, Any], prefix: str) -> None:
    for name, value in identity.items():
        # The type is asked first: thousands of runs have millions of fields.
        if type(value) is dict or (type(value) not in _PLAIN and isinstance(value, Mapping)):
            _flatten(value, flat, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
