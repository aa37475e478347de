"""Kernels that lost their counterpart by their name: variants are paired by it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from zlbench_core.ir.archive import Variant
from zlbench_core.judge.ir.compare import Pair


def pair_renamed(pairs: Sequence[Pair]) -> tuple[tuple[Pair, ...], tuple[str, str] | None]:
    """Pair the variants of two kernels, where exactly one kernel of each side has no counterpart by name.

    Returns the pairs and the two names, a's first; the pairs as they were and None where there are no such two.
    """
    a = {pair.a.kernel for pair in pairs if pair.a}
    b = {pair.b.kernel for pair in pairs if pair.b}
    if len(a - b) != 1 or len(b - a) != 1:
        return tuple(pairs), None
    [name_a], [name_b] = a - b, b - a
    others = [pair for pair in pairs if pair.variant.kernel not in (name_a, name_b)]
    mine = [pair.a for pair in pairs if pair.a and pair.a.kernel == name_a]
    theirs = [pair.b for pair in pairs if pair.b and pair.b.kernel == name_b]
    return (*others, *_matched(mine, theirs)), (name_a, name_b)


def _matched(a: list[Variant], b: list[Variant]) -> Iterator[Pair]:
    """The likest first: all but the name equal, then the same types and specialisation, then in their order."""
    for trait in (_settings, _arguments, _anything):
        yield from _take(a, b, trait)
    yield from (Pair(one, None) for one in a)
    yield from (Pair(None, one) for one in b)


def _take(a: list[Variant], b: list[Variant], trait: Callable[[Variant], Any]) -> Iterable[Pair]:
    found = []
    for one in list(a):
        twin = next((other for other in b if trait(other) == trait(one)), None)
        if twin is not None:
            a.remove(one)
            b.remove(twin)
            found.append(Pair(one, twin))
    return found


def _settings(variant: Variant) -> str:
    return json.dumps(variant.config, sort_keys=True)


def _arguments(variant: Variant) -> str:
    types = [kind for kind in variant.config["signature"] if not kind.endswith(": constexpr")]
    return json.dumps([types, variant.config["attributes"]], sort_keys=True)


def _anything(_: Variant) -> None:
    return None
