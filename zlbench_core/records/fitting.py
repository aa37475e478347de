"""Whether a JSON object holds what a class of records says: each name known, each value of its type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin

from zlbench_core.records.described import slots

Fits = Callable[[Any], bool]


def unknown_names(value: Mapping[str, Any], cls: type, above: str = "") -> Iterator[str]:
    """The names in `value` that the class does not declare, nested ones joined by dots."""
    known = slots(cls)
    for name, one in value.items():
        if name not in known:
            yield above + name
        elif (inner := known[name].inner) is not None and isinstance(one, Mapping):
            yield from unknown_names(one, inner, f"{above}{name}.")


def misfits(value: Mapping[str, Any], cls: type, above: str = "") -> Iterator[tuple[str, Any, str]]:
    """Name, value and expected type of each field of another type. A missing or null field is none of them."""
    tests = _tests(cls)
    for name, one in value.items():
        if one is None or name not in tests:
            continue
        fits, inner = tests[name]
        if not fits(one):
            yield above + name, one, spelled(slots(cls)[name].kind)
        elif inner is not None:
            yield from misfits(one, inner, f"{above}{name}.")


def spelled(kind: Any) -> str:
    """A type in words: `list of str`."""
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(map(spelled, get_args(kind)))
    if get_origin(kind) is list:
        return f"list of {spelled(get_args(kind)[0])}"
    if get_origin(kind) is dict:
        inner = get_args(kind)[1]
        return "dict" if inner is Any else f"dict of {spelled(inner)}"
    return str(kind.__name__) if kind in (str, int, float, bool) else "dict"


@cache
def _tests(cls: type) -> dict[str, tuple[Fits, type | None]]:
    return {name: (_test(slot.kind), slot.inner) for name, slot in slots(cls).items()}


def _test(kind: Any) -> Fits:
    """Built once for each field: thousands of identities are read."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return lambda value: True
    if origin in (Union, UnionType):
        choices = [_test(one) for one in inner]
        return lambda value: any(fits(value) for fits in choices)
    if origin is list:
        item = _test(inner[0])
        return lambda value: isinstance(value, list) and all(map(item, value))
    if origin is dict and inner[1] is not Any:
        content = _test(inner[1])
        return lambda value: isinstance(value, dict) and all(map(content, value.values()))
    if kind in (int, float):
        numbers = (int, float) if kind is float else int
        return lambda value: isinstance(value, numbers) and not isinstance(value, bool)
    return lambda value: isinstance(value, kind if kind in (str, bool) else dict)
