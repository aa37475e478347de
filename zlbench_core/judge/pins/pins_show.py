"""Pins as text: where they are from, then one line per key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zlbench_core.common.plural import count
from zlbench_core.judge.pins.pin_sets import PinSet
from zlbench_core.pins.configs import describe
from zlbench_core.pins.pins import DISCARDED
from zlbench_core.pins.records import Entry
from zlbench_core.results.console import text_table

ORIGIN_FIELDS = ("backend", "device", "compiler", "provider", "provider_commit", "level", "shapes_digest")
NOTHING = "no autotuned kernel was launched; nothing to pin"
HEAD = ("kernel", "source", "key", "config", "time ms", "next ms", "note")


def show_json(pins: PinSet) -> dict[str, Any]:
    return {"op": pins.op, "meta": pins.meta, "entries": [entry.to_json() for entry in pins.entries]}


def show_text(pins: PinSet, width: int | None = None) -> str:
    """The origin in a few lines, then one line per key: kernel, the digest of its source, key, config, the
    winner's time and the runner-up's, and what to know about it. One line where there was nothing to pin."""
    meta, entries = pins.meta, pins.entries
    if not entries and meta.get("status") != DISCARDED:
        return f"{pins.op}: {NOTHING}"
    fields = ("tuner_database", *ORIGIN_FIELDS, "status", "reason")
    origin = [f"{name}: {plain(meta[name])}" for name in fields if meta.get(name) is not None]
    keys = f"{count(len(entries), 'key')} of {count(len({entry.kernel_id for entry in entries}), 'kernel')}"
    ties = count(sum(bool(entry.near_ties) for entry in entries), "near tie")
    table = text_table([dict(zip(HEAD, _row(entry), strict=True)) for entry in entries], HEAD, width)
    return "\n".join([f"op: {pins.op}", *origin, f"{keys}, {ties}", *(table.splitlines() if entries else ())])


def _row(entry: Entry) -> tuple[str, ...]:
    second = entry.runners_up[0]["ms"] if entry.runners_up else None
    return (
        entry.kernel,
        entry.source_digest[:8],
        json.dumps(entry.key),
        describe(entry.winner),
        _milliseconds(entry.winner_ms),
        _milliseconds(second),
        ", ".join(_notes(entry)),
    )


def _notes(entry: Entry) -> list[str]:
    flags = {
        f"near tie of {1 + len(entry.near_ties)}": bool(entry.near_ties),
        "hook": entry.pre_hook,
        "from cache": entry.from_cache,
        f"{entry.n_dropped} dropped early": bool(entry.n_dropped),
    }
    return [name for name, is_set in flags.items() if is_set]


def _milliseconds(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"


def plain(value: Any) -> str:
    """A meta value in one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {one}" for name, one in value.items() if one is not None)
    return str(value)
