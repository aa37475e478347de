"""What `zlbench pins` reads: the pins or the record of one operator, or of every operator below a folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zlbench_core.errors import PinsError
from zlbench_core.pins.pins import META_NAME, PINS_NAME, discarded_meta, load_pins
from zlbench_core.pins.records import FILE_NAME, Entry, read_records


@dataclass(frozen=True)
class PinSet:
    """The pins of one operator. Without a meta.json, `meta` says what else is known of their origin."""

    op: str
    entries: list[Entry]
    meta: dict[str, Any]


def load_pin_sets(path: Path) -> dict[str, PinSet]:
    """The pin sets at `path`, by operator: a pins folder, a record's folder, an operator's folder, a campaign's
    results/{backend}, or a folder `<op>/meta.json` as autotune.from takes it.

    A record that was discarded is a set without entries, whose meta has the reason.
    Raises PinsError when there is none or one is damaged.
    """
    return {op: load_pin_set(op, folder) for op, folder in find_pin_folders(path).items()}


def find_pin_folders(path: Path) -> dict[str, Path]:
    """The folders with pins or records at `path`, by operator. Raises PinsError when there is none."""
    if not os.path.isdir(path):
        raise PinsError(f"no pins: {path} is not a directory")
    if _holds_pins(path):
        return {path.parent.name if path.name == "pins" else path.name: path}
    if _holds_pins(path / "pins"):
        return {path.name: path / "pins"}
    found: dict[str, Path] = {}
    for child in sorted(one for one in path.iterdir() if one.is_dir()):
        for folder in (child / "pins", child):
            if (folder / META_NAME).is_file():
                found.setdefault(child.name, folder)
    if not found:
        raise PinsError(
            f"no pins: {path} holds neither {META_NAME} nor {FILE_NAME}, and no folder of an operator with one"
        )
    return found


def _holds_pins(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (META_NAME, PINS_NAME, FILE_NAME))


def load_pin_set(op: str, folder: Path) -> PinSet:
    """One operator's pins, or its record where no pins were made of it. Raises PinsError when damaged."""
    if (folder / FILE_NAME).is_file() and not (folder / PINS_NAME).exists():
        records = read_records(folder)
        return PinSet(op, records.entries, {"backend": records.backend, "status": records.status})
    meta = discarded_meta(folder)
    if meta is not None:
        return PinSet(op, [], meta)
    pins = load_pins(folder)
    return PinSet(op, pins.entries, pins.meta or {})
