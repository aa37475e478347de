"""Compares the IR archives of two sides, variant by variant and stage by stage."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from zlbench_core.errors import ArchiveError
from zlbench_core.ir.archive import INDEX, Archive, Variant, in_order, read_archive

IDENTICAL, DIFFERENT, UNKNOWN = "identical", "different", "unknown"


@dataclass(frozen=True)
class Pair:
    """A variant as side a and side b compiled it; None where a side did not compile it."""

    a: Variant | None
    b: Variant | None

    @property
    def variant(self) -> Variant:
        found = self.a or self.b
        assert found is not None, "a side compiled it"
        return found

    @property
    def both(self) -> tuple[Variant, Variant] | None:
        """The variant of each side; None where only one side compiled it."""
        return (self.a, self.b) if self.a and self.b else None

    @property
    def only_in(self) -> str | None:
        return "b" if self.a is None else "a" if self.b is None else None

    @property
    def stages(self) -> list[str]:
        """The stages that both sides captured, first to last."""
        if self.both is None:
            return []
        a, b = self.both
        return [stage for stage in a.stages if stage in b.stages]

    @property
    def differing(self) -> list[str]:
        if self.both is None:
            return []
        a, b = self.both
        return [stage for stage in self.stages if a.digests[stage] != b.digests[stage]]

    @property
    def first_stage(self) -> str | None:
        return next(iter(self.differing), None)

    @property
    def only_locations(self) -> bool:
        """The text differs, and nothing but what says where the source stood."""
        if self.both is None or self.differing:
            return False
        a, b = self.both
        return any(a.raw_digests[stage] != b.raw_digests[stage] for stage in self.stages)

    @property
    def missing(self) -> dict[str, list[str]]:
        """By side, the stages that it did not capture: its archive says so, or the other side has them."""
        sides = {"a": (self.a, self.b), "b": (self.b, self.a)}
        return {
            side: in_order([mine.missing, [s for s in other.stages if s not in mine.stages]])
            for side, (mine, other) in sides.items()
            if mine and other and (mine.missing or set(other.stages) - set(mine.stages))
        }


@dataclass(frozen=True)
class GateResult:
    """`verdict` is "identical", "different" or "unknown"; unknown has a `reason` and is an error.

    Different has one where nothing could be compared: no variant is on both sides.
    """

    verdict: str
    reason: str | None = None
    first_stage: str | None = None  # the earliest one over all variants
    pairs: tuple[Pair, ...] = ()
    digests: tuple[tuple[str, str], ...] = ()  # (path of the index, its sha256)

    @property
    def only_locations(self) -> int:
        return sum(pair.only_locations for pair in self.pairs)

    @property
    def counts(self) -> dict[str, int]:
        """Variants by outcome. `compared` are those that both sides compiled."""
        only = [pair.only_in for pair in self.pairs]
        different = sum(bool(pair.differing) for pair in self.pairs)
        return {
            "compared": only.count(None),
            "identical": only.count(None) - different,
            "different": different,
            "only_in_a": only.count("a"),
            "only_in_b": only.count("b"),
        }


def compare_archives(a_dirs: Sequence[Path | str], b_dirs: Sequence[Path | str]) -> GateResult:
    """Compare two sides, each given as its run folders or archives; those of one side are taken together.

    A variant that only one side compiled is a difference. The answer is unknown when an archive cannot be
    read or holds nothing, and when nothing differs but a stage is missing.
    """
    try:
        sides = {"a": [read_archive(path) for path in a_dirs], "b": [read_archive(path) for path in b_dirs]}
    except ArchiveError as error:
        return GateResult(UNKNOWN, str(error))
    return compare_read(sides["a"], sides["b"])


def compare_read(a: Sequence[Archive], b: Sequence[Archive]) -> GateResult:
    """Compare two sides whose archives are read already; else as compare_archives."""
    sides = {"a": a, "b": b}
    digests = tuple(
        (str(archive.path / INDEX), archive.digest) for side in sides.values() for archive in side
    )
    empty = [side for side, archives in sides.items() if not any(archive.variants for archive in archives)]
    if empty:
        return GateResult(
            UNKNOWN, f"nothing was captured on side {' and side '.join(empty)}", digests=digests
        )
    return judge(tuple(_pairs(sides["a"], sides["b"])), digests)


def judge(pairs: tuple[Pair, ...], digests: tuple[tuple[str, str], ...] = ()) -> GateResult:
    """The answer for some variants: a difference anywhere, else unknown where a stage is missing."""
    order = in_order(pair.variant.stages for pair in pairs)
    first = min((pair.first_stage for pair in pairs if pair.first_stage), key=order.index, default=None)
    if first or any(pair.only_in for pair in pairs):
        return GateResult(DIFFERENT, _apart(pairs), first_stage=first, pairs=pairs, digests=digests)
    lacking = next((pair for pair in pairs if pair.missing), None)
    if lacking is None:
        return GateResult(IDENTICAL, pairs=pairs, digests=digests)
    stages = "; ".join(f"side {side} lacks {', '.join(names)}" for side, names in lacking.missing.items())
    reason = (
        f"stages of {lacking.variant.kernel} were not captured: {stages} (is TRITON_STORE_BINARY_ONLY set?)"
    )
    return GateResult(UNKNOWN, reason, pairs=pairs, digests=digests)


def _apart(pairs: tuple[Pair, ...]) -> str | None:
    a = sorted({pair.a.kernel for pair in pairs if pair.a})
    b = sorted({pair.b.kernel for pair in pairs if pair.b})
    if not a or not b or not all(pair.only_in for pair in pairs):
        return None
    what = "kernel variant" if set(a) & set(b) else "kernel"
    told = f"a compiled {', '.join(a)}; b compiled {', '.join(b)}"
    return f"no {what} of either side has a counterpart on the other: {told}"


def _pairs(a: Sequence[Archive], b: Sequence[Archive]) -> Iterator[Pair]:
    a_groups, b_groups = _groups(a), _groups(b)
    for key in sorted(a_groups.keys() | b_groups.keys()):
        yield from _match(a_groups.get(key, []), b_groups.get(key, []))


def _groups(archives: Sequence[Archive]) -> dict[tuple[str, str], list[Variant]]:
    """The variants by identity, those of equal content once, in an order that both sides share."""
    groups: defaultdict[tuple[str, str], dict[str, Variant]] = defaultdict(dict)
    for archive in archives:
        for variant in archive.variants:
            groups[variant.kernel, variant.variant_id].setdefault(variant.content, variant)
    return {key: sorted(group.values(), key=_rank) for key, group in groups.items()}


def _match(a: list[Variant], b: list[Variant]) -> Iterator[Pair]:
    """Pair equal contents first: one identity has several where an option outside it was varied."""
    left = {variant.content: variant for variant in b}
    unmatched = []
    for variant in a:
        twin = left.pop(variant.content, None)
        if twin:
            yield Pair(variant, twin)
        else:
            unmatched.append(variant)
    for one, other in zip_longest(unmatched, left.values()):
        yield Pair(one, other)


def _rank(variant: Variant) -> tuple[str, str]:
    return json.dumps(variant.document["options"], sort_keys=True), variant.content
