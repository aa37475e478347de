"""What a class of records says of each field beside its type: how two runs are compared by it, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, reduce
from operator import or_
from typing import Any, get_args, get_type_hints

_KEY = "described"

# How two runs are compared by a field.
CALIBER = "caliber"  # recorded by both, and equal
EQUAL = "equal"  # equal, as far as it is recorded, unless the sides are declared to differ in it
FREE = "free"  # may differ, and `why` says why that is harmless
APART = "apart"  # judged by a rule of its own, which `why` names


@dataclass(frozen=True)
class Described:
    """`heading`: under which `zlbench identity` shows it. `declared_by`: the declaration of the sides that covers it.

    `needed`: a run without it is not compared. `choices`, `pattern` and `least` bound its value in the schema.
    """

    rule: str
    why: str = ""
    needed: bool = False
    heading: str | None = None
    declared_by: str | None = None
    choices: tuple[str | int, ...] = ()
    pattern: str | None = None
    least: int | None = None


def caliber(**more: Any) -> Any:
    return field(metadata={_KEY: Described(CALIBER, needed=True, heading="caliber", **more)})


def equal(**more: Any) -> Any:
    return field(metadata={_KEY: Described(EQUAL, **more)})


def may_differ(why: str, **more: Any) -> Any:
    return field(metadata={_KEY: Described(FREE, why, **more)})


def apart(why: str, **more: Any) -> Any:
    return field(metadata={_KEY: Described(APART, why, **more)})


@dataclass(frozen=True)
class Slot:
    """One field of a class: its type without None, whether it may be left out, and the class of what is beneath it."""

    kind: Any
    optional: bool
    inner: type | None
    described: Described | None  # None: as what stands above it, or as what stands beneath it


@cache
def slots(cls: type) -> dict[str, Slot]:
    """The fields of a class by name, in the order in which it declares them."""
    hints = get_type_hints(cls)
    return {one.name: _slot(hints[one.name], one.metadata.get(_KEY)) for one in fields(cls)}


def _slot(hint: Any, described: Described | None) -> Slot:
    optional = type(None) in get_args(hint)
    kind = reduce(or_, (one for one in get_args(hint) if one is not type(None))) if optional else hint
    inner = kind if isinstance(kind, type) and is_dataclass(kind) else None
    return Slot(kind, optional, inner, described)


def described_fields(cls: type, above: str = "") -> Iterator[tuple[str, Described]]:
    """Every field that is described, nested names joined by dots; a name stands for all beneath it."""
    for name, slot in slots(cls).items():
        if slot.described is not None:
            yield above + name, slot.described
        elif slot.inner is not None:
            yield from described_fields(slot.inner, f"{above}{name}.")
