"""A campaign's verdicts again, from rounds.parquet alone: no run folder, no torch, no device."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zlbench_core.common.files import read_object, sha256_of
from zlbench_core.errors import ReadError
from zlbench_core.judge.show import read_verdicts
from zlbench_core.judge.summary import framed
from zlbench_core.results.store import ROUNDS_NAME, read_rounds
from zlbench_core.verdicts.stored import judge_stored


@dataclass(frozen=True)
class Recomputed:
    """`operators`: how many were judged again; `differences`: one line each, empty when all bits are the same."""

    operators: int
    differences: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {"operators": self.operators, "differences": list(self.differences)}

    def to_text(self) -> str:
        if self.differences:
            return "".join(f"verdicts differ: {line}\n" for line in self.differences)
        return f"verdicts recomputed: {self.operators} equal\n"


def recompute(folder: Path) -> Recomputed:
    """Judge the stored rounds of a finished campaign and compare with its verdicts.json, every field of it.

    Raises ReadError where either file is missing or unreadable. A last bit may differ under another numpy or
    scipy than the summary's: then it is the arithmetic that is another, and the line says which number.
    """
    stored = read_verdicts(folder / "verdicts.json")
    again = framed(judge_stored(read_rounds(folder / ROUNDS_NAME)))
    operators = len(again["operators"])
    changed = _differences("", stored, json.loads(json.dumps(again)))
    return Recomputed(operators, (*changed, *_unvouched(folder)))


def _unvouched(folder: Path) -> Iterator[str]:
    """Whether the rounds are those that the receipt vouches for; a store that was copied without it has none."""
    path = folder / "receipt.json"
    if path.exists():
        vouched = read_object(path, ReadError, what="receipt").get("store", {}).get(ROUNDS_NAME)
        if vouched != sha256_of(folder / ROUNDS_NAME):
            yield f"{ROUNDS_NAME}: it is not the file that receipt.json vouches for"


def _differences(where: str, stored: Any, again: Any) -> Iterator[str]:
    if isinstance(stored, dict) and isinstance(again, dict):
        for name in sorted(stored.keys() | again.keys()):
            yield from _differences(
                _below(where, name), stored.get(name, "absent"), again.get(name, "absent")
            )
    elif isinstance(stored, list) and isinstance(again, list) and len(stored) == len(again):
        for number, pair in enumerate(zip(stored, again, strict=True)):
            yield from _differences(_below(where, _name(pair, number)), *pair)
    elif repr(stored) != repr(again):
        yield f"{where}: {_short(stored)} is stored, {_short(again)} follows from the rounds"


def _below(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _name(pair: tuple[Any, Any], number: int) -> str:
    op = pair[0].get("op") if isinstance(pair[0], Mapping) else None
    return str(op if op is not None else number)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
