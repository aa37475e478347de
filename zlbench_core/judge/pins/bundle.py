"""Pins of one or more operators as one file, to carry to another machine, and back."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zlbench_core.common.files import read_object, write_json, write_text
from zlbench_core.errors import PinsError
from zlbench_core.judge.pins.pin_sets import find_pin_folders
from zlbench_core.pins.pins import META_NAME, PINS_NAME, backend_ok, discarded_meta, load_pins, validate_pins
from zlbench_core.pins.records import SCHEMA_VERSION, entries_of

BUNDLE_KIND = "zlbench-pins"
# What the configuration takes as an operator's name: no separator, no dot.
OPERATOR = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


def export_pins(source: Path, bundle: Path) -> dict[str, int]:
    """Write the published pins at `source` as one file; returns the number of keys by operator.

    Raises PinsError when a record was discarded or was never published: half a campaign is no export.
    """
    operators, keys = {}, {}
    for op, folder in find_pin_folders(source).items():
        _check_operator(op, source)
        _check_published(folder)
        pins = load_pins(folder)
        operators[op] = {"meta": pins.meta, "pins": (folder / PINS_NAME).read_text(encoding="utf-8")}
        keys[op] = len(pins.entries)
    write_json(bundle, {"schema_version": SCHEMA_VERSION, "kind": BUNDLE_KIND, "operators": operators})
    return keys


def _check_published(folder: Path) -> None:
    meta = discarded_meta(folder)
    if meta is not None:
        told = f"the record was discarded: {meta.get('reason')}; there is nothing to export"
        raise PinsError(f"{folder / META_NAME}: {told}")


def read_bundle(bundle: Path, backend: str) -> dict[str, dict[str, Any]]:
    """The operators of a bundle, each with `meta` and `pins` (the text of pins.json).

    Raises PinsError when the bundle is damaged, names an operator that is no plain name, or is of another backend.
    """
    value = read_object(bundle, PinsError, what="exported pins", schema=SCHEMA_VERSION)
    operators = value.get("operators")
    if value.get("kind") != BUNDLE_KIND or not isinstance(operators, dict) or not operators:
        raise PinsError(f"{bundle} is no exported pins: kind {value.get('kind')!r}")
    for op, part in operators.items():
        _check_operator(op, bundle)
        _check_part(op, part, bundle)
        if not backend_ok(part["meta"], backend):
            recorded = part["meta"].get("backend")
            raise PinsError(f"{bundle}: {op} is of backend {recorded!r}; {backend!r} is asked for")
    return operators


def import_pins(operators: Mapping[str, Mapping[str, Any]], folder: Path) -> dict[str, int]:
    """Publish what `read_bundle` gave as `<folder>/<op>/`, whole or not at all; returns the keys by operator.

    Raises PinsError when `folder` exists: pins are never imported over others.
    """
    if folder.exists() or folder.is_symlink():
        raise PinsError(f"{folder} exists; pins are never imported over others")
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        for op, part in operators.items():
            write_text(staging / op / PINS_NAME, part["pins"])
            write_json(staging / op / META_NAME, part["meta"])
            validate_pins(staging / op)
        os.chmod(staging, 0o755)
        os.replace(staging, folder)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    return {op: len(load_pins(folder / op).entries) for op in operators}


def _check_operator(op: str, where: Path) -> None:
    if not OPERATOR.fullmatch(op):
        raise PinsError(f"{where} names the operator {op!r}; letters, digits and _ are allowed")


def _check_part(op: str, part: Any, bundle: Path) -> None:
    meta = part.get("meta") if isinstance(part, dict) else None
    text = part.get("pins") if isinstance(part, dict) else None
    if not isinstance(meta, dict) or not isinstance(text, str):
        raise PinsError(f"{bundle}: {op} has no meta or no pins")
    digest = hashlib.sha256(text.encode()).hexdigest()
    vouched = (meta.get("digests") or {}).get(PINS_NAME)
    if digest != vouched:
        raise PinsError(
            f"{bundle}: the meta of {op} vouches for {PINS_NAME} {str(vouched)[:12]}, found {digest[:12]}"
        )
    try:
        entries_of(json.loads(text), bundle)
    except (ValueError, AttributeError) as error:
        raise PinsError(f"{bundle}: the pins of {op} are no JSON object: {error}") from None
