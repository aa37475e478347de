"""run_identity.json: what a run really used, written by the runner and by the plugins inside the run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from zlbench_core.common.files import read_object, write_json
from zlbench_core.common.text import printable, shortened
from zlbench_core.errors import IdentityError
from zlbench_core.records.fitting import misfits, unknown_names
from zlbench_core.records.identity_fields import SCHEMA_VERSION, Identity

FILE_NAME = "run_identity.json"


def identity_path(out_dir: Path | str) -> Path:
    return Path(out_dir) / FILE_NAME


def now() -> str:
    """The current time in UTC, ISO 8601 with microseconds."""
    return datetime.now(timezone.utc).isoformat(timespec="microseconds")


def init_identity(out_dir: Path | str, **fields: Any) -> dict[str, Any]:
    """Start a run's identity, replacing whatever an earlier run left there.

    Raises IdentityError for a field that Identity does not declare, or of another type than it declares.
    """
    identity = {"schema_version": SCHEMA_VERSION, "status": "running", **_declared(fields)}
    write_json(identity_path(out_dir), identity)
    return identity


def update_identity(out_dir: Path | str, **fields: Any) -> dict[str, Any]:
    """Set fields of an existing identity. A mapping is merged into the mapping that is there, one level deep.

    Raises IdentityError when there is no readable identity to update; else as init_identity.
    """
    identity = load_identity(out_dir)
    for name, value in _declared(fields).items():
        old = identity.get(name)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            value = {**old, **value}
        identity[name] = value
    write_json(identity_path(out_dir), identity)
    return identity


def lookup(identity: Any, name: str) -> Any:
    """The value of a field, nested names joined by dots; None where it is not recorded."""
    for part in name.split("."):
        identity = identity.get(part) if isinstance(identity, Mapping) else None
    return identity


def _declared(fields: dict[str, Any]) -> dict[str, Any]:
    for name in unknown_names(fields, Identity):
        raise IdentityError(
            f"identity field {name} is unknown; class Identity in records/identity_fields.py declares every field"
        )
    for told in _misfits(fields):
        raise IdentityError(f"identity field {told}")
    return fields


def load_identity(out_dir: Path | str) -> dict[str, Any]:
    """Read a run's identity. Raises IdentityError when it is missing, malformed, or of another schema."""
    path = identity_path(out_dir)
    identity = read_object(path, IdentityError, what="identity")
    found = identity.get("schema_version")
    if type(found) is not int or found != SCHEMA_VERSION:
        told = shortened(printable(repr(found)), 20)
        raise IdentityError(f"{path} is of schema_version {told}; {SCHEMA_VERSION} is read")
    for told in _misfits(identity):
        raise IdentityError(f"unreadable identity {path}: {told}")
    return identity


def _misfits(fields: Mapping[str, Any]) -> list[str]:
    return [
        f"{name} holds {shortened(printable(repr(value)), 80)}; {kind} is expected"
        for name, value, kind in misfits(fields, Identity)
    ]
