"""The pins that both sides replayed, and which winners are no better than their runners-up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zlbench_core.pins.configs import describe
from zlbench_core.report.words import number

MAX_KEYS = 100


def pins_view(op: str, pins: Any) -> dict[str, Any]:
    """The pins of one operator for the page: near ties first, at most 100 keys."""
    entries = sorted(pins.entries, key=lambda entry: not entry["near_ties"])
    meta = pins.meta
    return {
        "op": op,
        "problem": pins.problem,
        "key_count": len(entries),
        "ties": sum(bool(entry["near_ties"]) for entry in entries),
        "origin": ", ".join(
            filter(None, (meta.get("device"), _compiler(meta.get("compiler")), meta.get("provider_commit")))
        ),
        "entries": [_entry(entry) for entry in entries[:MAX_KEYS]],
        "left_out": max(0, len(entries) - MAX_KEYS),
    }


def _compiler(compiler: Any) -> str:
    if not isinstance(compiler, Mapping):
        return ""
    return ", ".join(f"{name} {value}" for name, value in compiler.items() if value is not None)


def _entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    best = entry["near_ties"][0] if entry["near_ties"] else None
    return {
        "kernel": entry["kernel"],
        "key": json.dumps(entry["key"], ensure_ascii=False),
        "winner": describe(entry["winner"]) if entry["winner"] else entry["reason"],
        "ms": number(entry["winner_ms"]),
        "ties": len(entry["near_ties"]),
        "tie": f"{describe(best['config'])} ({number(best.get('ms'))} ms)" if best else "",
    }
