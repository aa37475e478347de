"""Where two records of the same kernels disagree: may one stand for the other?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zlbench_core.judge.pins.pin_sets import PinSet
from zlbench_core.judge.pins.pins_show import ORIGIN_FIELDS, plain
from zlbench_core.pins.configs import describe
from zlbench_core.pins.records import Entry

SIDES = ("first", "second")


def diff_sets(first: Mapping[str, PinSet], second: Mapping[str, PinSet]) -> dict[str, Any]:
    """The differences of two collections by operator; one set on each side is compared whatever its name.

    `interchangeable`: the same keys everywhere, and every other winner is a near tie.
    """
    if len(first) == len(second) == 1:
        second = dict(zip(first, second.values(), strict=True))
    both = [op for op in first if op in second]
    found = {op: diff(first[op], second[op]) for op in both}
    only = {f"only_{SIDES[0]}": [op for op in first if op not in second]}
    only[f"only_{SIDES[1]}"] = [op for op in second if op not in first]
    same = not any(only.values()) and all(one["interchangeable"] for one in found.values())
    return {"interchangeable": same, "operators": found, **only}


def diff(first: PinSet, second: PinSet) -> dict[str, Any]:
    """Where two pin sets differ: origin, keys of one only, keys with different winners.

    `near_tie` names the records that list the other's winner as within noise of their own; one of them is
    enough, as it is where shards are merged. Times are milliseconds; `*_of_other_ms` is the other side's winner
    in this side's record, null where it is not listed.
    """
    pairs, only_first, only_second = _paired(first.entries, second.entries)
    different = [_difference(a, b) for a, b in pairs if a.winner != b.winner]
    return {
        "origin": {
            name: [first.meta.get(name), second.meta.get(name)]
            for name in (*ORIGIN_FIELDS, "status")
            if first.meta.get(name) != second.meta.get(name)
        },
        "same": sum(a.winner == b.winner for a, b in pairs),
        "different": different,
        "source_changed": sorted({a.kernel for a, b in pairs if a.source_digest != b.source_digest}),
        "only_first": [_named(entry) for entry in only_first],
        "only_second": [_named(entry) for entry in only_second],
        "interchangeable": not only_first and not only_second and all(one["near_tie"] for one in different),
    }


def _paired(one: list[Entry], two: list[Entry]) -> tuple[list[tuple[Entry, Entry]], list[Entry], list[Entry]]:
    """Pairs of the same kernel, key and source, then those of a kernel whose source has changed."""
    pairs: list[tuple[Entry, Entry]] = []
    left, right = list(one), list(two)
    for fields in (("kernel_id", "key_id", "source_digest"), ("kernel_id", "key_id")):
        waiting = {tuple(getattr(entry, name) for name in fields): entry for entry in right}
        for entry in list(left):
            match = waiting.pop(tuple(getattr(entry, name) for name in fields), None)
            if match is not None:
                pairs.append((entry, match))
                left.remove(entry)
                right.remove(match)
    return pairs, left, right


def _difference(a: Entry, b: Entry) -> dict[str, Any]:
    return {
        **_named(a),
        "first": a.winner,
        "second": b.winner,
        "first_ms": a.winner_ms,
        "second_ms": b.winner_ms,
        "first_of_other_ms": _time_of(a, b.winner),
        "second_of_other_ms": _time_of(b, a.winner),
        "near_tie": [
            side for side, own, other in zip(SIDES, (a, b), (b, a), strict=True) if _is_tie(own, other.winner)
        ],
    }


def _is_tie(entry: Entry, config: dict[str, Any] | None) -> bool:
    return any(one["config"] == config for one in entry.near_ties)


def _time_of(entry: Entry, config: dict[str, Any] | None) -> float | None:
    listed = (*entry.near_ties, *entry.runners_up)
    return next((one["ms"] for one in listed if one["config"] == config), None)


def _named(entry: Entry) -> dict[str, Any]:
    return {"kernel": entry.kernel, "key": entry.key}


def diff_text(found: Mapping[str, Any]) -> str:
    """What `diff_sets` found, as text."""
    lines = []
    for op, one in found["operators"].items():
        lines += [f"op: {op}", *_lines(one)]
    for side in SIDES:
        lines += [f"op: {op}: only in the {side}" for op in found[f"only_{side}"]]
    word = "may" if found["interchangeable"] else "may not"
    return "\n".join([*lines, f"one {word} stand for the other"])


def _lines(found: Mapping[str, Any]) -> list[str]:
    lines = [f"{name}: {plain(a)} | {plain(b)}" for name, (a, b) in found["origin"].items()]
    only = ", ".join(f"{len(found[f'only_{side}'])} only in the {side}" for side in SIDES)
    ties = sum(bool(one["near_tie"]) for one in found["different"])
    told = f"{found['same']} keys agree, {len(found['different'])} differ ({ties} near ties), {only}"
    lines += [told, *(line for one in found["different"] for line in _difference_lines(one))]
    for side in SIDES:
        lines += [f"{_label(one)}: only in the {side}" for one in found[f"only_{side}"]]
    return lines + [f"{kernel}: another source" for kernel in found["source_changed"]]


def _difference_lines(one: Mapping[str, Any]) -> list[str]:
    told_of = {side: f"{describe(one[side])} ({_milliseconds(one[f'{side}_ms'])})" for side in SIDES}
    other = {side: one[f"{side}_of_other_ms"] for side in SIDES}
    lines = [f"{_label(one)}: {_kind(one['near_tie'])}"]
    for side, rival in zip(SIDES, SIDES[::-1], strict=True):
        told = "" if other[side] is None else f"; the {rival}'s winner took {_milliseconds(other[side])} here"
        lines.append(f"  {side:6} {told_of[side]}{told}")
    return lines


def _kind(tied: list[str]) -> str:
    if len(tied) == 1:
        return f"near tie by the {tied[0]} alone"
    return "near tie" if tied else "beyond noise"


def _milliseconds(value: float | None) -> str:
    return "not timed" if value is None else f"{value:.6f} ms"


def _label(named: Mapping[str, Any]) -> str:
    return f"{named['kernel']} {json.dumps(named['key'])}"
