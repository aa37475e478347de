"""Pins as one file, to carry to another machine, and back."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from zlbench_core.autotune.pins import PINS_NAME, backend_ok, load_pins, publish_pins, validate_pins
from zlbench_core.autotune.records import SCHEMA_VERSION, Entry, entries_of
from zlbench_core.errors import PinsError
from zlbench_core.files import read_object, write_json

BUNDLE_KIND = "zlbench-pins"


def export_pins(folder: Path | str, bundle: Path | str) -> str:
    """Write published pins as one file, for `import_pins` on another machine; returns a line about it."""
    pins = load_pins(folder)
    write_json(
        bundle,
        {
            "schema_version": SCHEMA_VERSION,
            "kind": BUNDLE_KIND,
            "meta": pins.meta,
            "pins": (Path(folder) / PINS_NAME).read_text(encoding="utf-8"),
        },
    )
    return f"exported {len(pins.entries)} keys to {bundle}"


def import_pins(bundle: Path | str, folder: Path | str, *, backend: str) -> str:
    """Publish a bundle's pins in `folder`, which must not exist, for use on `backend`; returns a line on it.

    Raises PinsError when the bundle is damaged, is of another backend, or `folder` is taken.
    """
    bundle, folder = Path(bundle), Path(folder)
    meta, entries = _unpacked(bundle)
    if not backend_ok(meta, backend):
        raise PinsError(f"{bundle} is of backend {meta.get('backend')!r}; {backend!r} is asked for")
    if folder.exists():
        raise PinsError(f"{folder} exists; pins are never imported over others")
    publish_pins(folder, entries, meta)
    validate_pins(folder)
    return f"imported {len(entries)} keys to {folder}"


def _unpacked(bundle: Path) -> tuple[dict[str, Any], list[Entry]]:
    value = read_object(bundle, PinsError, what="exported pins", schema=SCHEMA_VERSION)
    meta, text = value.get("meta"), value.get("pins")
    if value.get("kind") != BUNDLE_KIND or not isinstance(meta, dict) or not isinstance(text, str):
        raise PinsError(f"{bundle} is no exported pins: kind {value.get('kind')!r}")
    digest = hashlib.sha256(text.encode()).hexdigest()
    vouched = (meta.get("digests") or {}).get(PINS_NAME)
    if digest != vouched:
        raise PinsError(
            f"{bundle}: its meta vouches for {PINS_NAME} {str(vouched)[:12]}, found {digest[:12]}"
        )
    return meta, entries_of(json.loads(text), bundle)
