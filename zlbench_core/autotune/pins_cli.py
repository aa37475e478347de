"""What `zlbench pins show|diff|export|import` do: each function returns JSON-able data or its text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from zlbench_core.autotune.bundle import export_pins, import_pins
from zlbench_core.autotune.configs import describe
from zlbench_core.autotune.pins import PINS_NAME, load_pins
from zlbench_core.autotune.records import FILE_NAME, Entry, read_records

__all__ = ["diff", "diff_text", "export_pins", "import_pins", "show", "show_text"]

ORIGIN_FIELDS = ("backend", "device", "compiler", "provider", "provider_commit", "level", "shapes_digest")

Loaded = tuple[list[Entry], dict[str, Any]]


def load_entries(folder: Path | str) -> Loaded:
    """The entries and the meta of a pins folder, or of a record's folder, whose meta is its backend alone.

    Raises PinsError when it is neither or is damaged.
    """
    folder = Path(folder)
    if (folder / PINS_NAME).exists() or not (folder / FILE_NAME).exists():
        pins = load_pins(folder)
        return pins.entries, pins.meta or {}
    records = read_records(folder)
    return records.entries, {"backend": records.backend, "status": records.status}


def show(folder: Path | str) -> dict[str, Any]:
    entries, meta = load_entries(folder)
    return {"meta": meta, "entries": [entry.to_json() for entry in entries]}


def show_text(folder: Path | str) -> str:
    """The origin in a few lines, then one line per key: kernel, key, config, time, what to know about it."""
    entries, meta = load_entries(folder)
    origin = [
        f"{name}: {_plain(meta[name])}" for name in (*ORIGIN_FIELDS, "status") if meta.get(name) is not None
    ]
    count = f"{len(entries)} keys of {len({entry.kernel_id for entry in entries})} kernels"
    ties = sum(bool(entry.near_ties) for entry in entries)
    return "\n".join([*origin, f"{count}, {ties} near ties", *_table(_row(entry) for entry in entries)])


def _row(entry: Entry) -> tuple[str, ...]:
    time = "" if entry.winner_ms is None else f"{entry.winner_ms:.6f} ms"
    flags = {
        "near tie": bool(entry.near_ties),
        "hook": entry.pre_hook,
        "from cache": entry.from_cache,
    }
    return (
        entry.kernel,
        json.dumps(entry.key),
        describe(entry.winner),
        time,
        ", ".join(name for name, is_set in flags.items() if is_set),
    )


def _table(rows: Iterable[tuple[str, ...]]) -> list[str]:
    listed = list(rows)
    widths = [max(map(len, column)) for column in zip(*listed, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in listed
    ]


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {one}" for name, one in value.items() if one is not None)
    return str(value)


def diff(first: Path | str, second: Path | str) -> dict[str, Any]:
    """Where two pins folders (or records) differ: origin, keys of one only, keys with different winners.

    `near_tie` says of a different winner that at least one side lists it as within noise of its own.
    """
    (one, one_meta), (two, two_meta) = load_entries(first), load_entries(second)
    pairs, only_one, only_two = _paired(one, two)
    return {
        "origin": {
            name: [one_meta.get(name), two_meta.get(name)]
            for name in ORIGIN_FIELDS
            if one_meta.get(name) != two_meta.get(name)
        },
        "same": sum(a.winner == b.winner for a, b in pairs),
        "different": [_difference(a, b) for a, b in pairs if a.winner != b.winner],
        "source_changed": sorted({a.kernel for a, b in pairs if a.source_digest != b.source_digest}),
        "only_first": [_named(entry) for entry in only_one],
        "only_second": [_named(entry) for entry in only_two],
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
    tied = any(one["config"] == b.winner for one in a.near_ties) or any(
        one["config"] == a.winner for one in b.near_ties
    )
    times = {"first_ms": a.winner_ms, "second_ms": b.winner_ms}
    return {**_named(a), "first": a.winner, "second": b.winner, **times, "near_tie": tied}


def _named(entry: Entry) -> dict[str, Any]:
    return {"kernel": entry.kernel, "key": entry.key}


def diff_text(first: Path | str, second: Path | str) -> str:
    found = diff(first, second)
    lines = [f"{name}: {_plain(a)} | {_plain(b)}" for name, (a, b) in found["origin"].items()]
    only = ", ".join(f"{len(found[f'only_{side}'])} only in the {side}" for side in ("first", "second"))
    lines.append(f"{found['same']} keys agree, {len(found['different'])} differ, {only}")
    for one in found["different"]:
        note = " (near tie)" if one["near_tie"] else ""
        lines.append(f"{_label(one)}{note}: {describe(one['first'])} | {describe(one['second'])}")
    for side in ("first", "second"):
        lines += [f"{_label(one)}: only in the {side}" for one in found[f"only_{side}"]]
    lines += [f"{kernel}: another source" for kernel in found["source_changed"]]
    return "\n".join(lines)


def _label(named: Mapping[str, Any]) -> str:
    return f"{named['kernel']} {json.dumps(named['key'])}"
