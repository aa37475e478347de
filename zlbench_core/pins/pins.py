"""A pins folder: pins.json, what is pinned, and meta.json, where it was recorded and whether it is whole."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zlbench_core.common.files import read_object, sha256_of, write_json
from zlbench_core.errors import PinsError, UnknownBackendError
from zlbench_core.pins.records import SCHEMA_VERSION, Entry, entries_of

PINS_NAME = "pins.json"
META_NAME = "meta.json"
DISCARDED = "discarded"  # the status of a record that left no pins


@dataclass(frozen=True)
class Pins:
    entries: list[Entry]
    meta: dict[str, Any] | None  # None: a folder that tells nothing about its origin
    digest: str  # sha256 of pins.json


def load_pins(folder: Path | str, *, require_meta: bool = True) -> Pins:
    """Read a pins folder. Raises PinsError in one line when it is missing, truncated, corrupt or of another
    schema, or when pins.json is not the file that meta.json vouches for."""
    folder = Path(folder)
    if not os.path.isdir(folder):
        raise PinsError(f"no pins: {folder} is not a directory")
    path = folder / PINS_NAME
    if not path.exists():
        read_meta(folder, required=False)  # a record that was discarded says why there are no pins
    entries = entries_of(read_object(path, PinsError, what="pins", schema=SCHEMA_VERSION), path)
    digest = sha256_of(path)
    return Pins(entries, read_meta(folder, digest, required=require_meta), digest)


def validate_pins(folder: Path | str) -> None:
    """Raises PinsError in one line when `folder` does not hold whole, published pins."""
    load_pins(folder)


def read_meta(
    folder: Path, pins_digest: str | None = None, *, required: bool = True
) -> dict[str, Any] | None:
    """meta.json, checked. None when it is missing and not `required`."""
    path = folder / META_NAME
    if not required and not path.exists():
        return None
    meta = read_object(path, PinsError, what="pins", schema=SCHEMA_VERSION)
    if meta.get("status") != "complete":
        reason = f": {meta['reason']}" if meta.get("reason") else ""
        raise PinsError(f"{path}: status {meta.get('status')!r}; complete is expected{reason}")
    digests = meta.get("digests")
    vouched = digests.get(PINS_NAME) if isinstance(digests, dict) else None
    if pins_digest is not None and vouched != pins_digest:
        raise PinsError(f"{path} vouches for {PINS_NAME} {str(vouched)[:12]}, found {pins_digest[:12]}")
    return meta


def discarded_meta(folder: Path | str) -> dict[str, Any] | None:
    """The meta.json of a record that was discarded, whose `reason` says why; None of any other. Raises PinsError."""
    path = Path(folder) / META_NAME
    meta = read_object(path, PinsError, what="pins", schema=SCHEMA_VERSION) if path.exists() else {}
    return meta if meta.get("status") == DISCARDED else None


def discarded_cause(folder: Path | str) -> str | None:
    """Why a record left no pins in `folder`, cause first; None where it does not say so. Raises PinsError."""
    meta = discarded_meta(folder)
    if meta is None or not meta.get("reason"):
        return None
    return f"{meta['reason']} ({Path(folder).name}/{META_NAME}: discarded)"


def backend_ok(meta: Mapping[str, Any] | None, backend: str) -> bool:
    """Whether pins with this meta may be used on `backend`. Pins that do not say where they are from are
    taken; a backend's aliases are the backend."""
    from zlbench_core.backends import normalize_backend_name

    if meta is None or meta.get("backend") is None:
        return True
    try:
        return normalize_backend_name(meta["backend"]) == normalize_backend_name(backend)
    except UnknownBackendError:
        return False


def check_backend(where: Path | str, meta: Mapping[str, Any] | None, backend: str) -> None:
    """Raises PinsError, naming `where` and both backends, when pins with this meta are not for `backend`."""
    if not backend_ok(meta, backend):
        recorded = (meta or {}).get("backend")
        raise PinsError(f"{where} is of backend {recorded!r}; this run is on {backend!r}")


def publish_pins(folder: Path | str, entries: list[Entry], meta: Mapping[str, Any]) -> None:
    """Write a pins folder that is there whole or not at all, in place of an older one.

    `meta` is completed with the schema, the status and the digests.
    """
    folder = Path(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        _write(staging, entries, meta)
        withdraw_pins(folder)
        os.replace(staging, folder)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def withdraw_pins(folder: Path | str) -> None:
    """Remove a pins folder; its meta.json goes first, so that what is left of an interruption is no pins."""
    folder = Path(folder)
    (folder / META_NAME).unlink(missing_ok=True)
    if folder.exists():
        shutil.rmtree(folder)


def _write(folder: Path, entries: list[Entry], meta: Mapping[str, Any]) -> None:
    os.chmod(folder, 0o755)
    ordered = sorted(entries, key=lambda entry: (entry.kernel, entry.id))
    pins = {"schema_version": SCHEMA_VERSION, "entries": [entry.to_json() for entry in ordered]}
    write_json(folder / PINS_NAME, pins)
    digests = {PINS_NAME: sha256_of(folder / PINS_NAME)}
    complete = {**meta, "schema_version": SCHEMA_VERSION, "status": "complete", "digests": digests}
    write_json(folder / META_NAME, complete)
