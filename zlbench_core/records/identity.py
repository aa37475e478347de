"""run_identity.json: what a run really used, written by the runner and by the plugins inside the run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from zlbench_core.common.files import read_object, write_json
from zlbench_core.errors import IdentityError

SCHEMA_VERSION = 1
FILE_NAME = "run_identity.json"

# What readers rely on. A field may be missing or null; one of another type is no identity of ours.
_TEXTS = (
    "autotune_mode",
    "backend",
    "bench_level",
    "device",
    "device_uuid",
    "driver",
    "failure",
    "harness",
    "op",
)
_TEXTS += (
    "plan",
    "provider",
    "provider_commit",
    "shape_mode",
    "side",
    "started",
    "status",
    "test_node",
    "timer",
)
_TEXTS += ("tuner_cache",)
_TYPES: dict[str, type] = {
    **dict.fromkeys(_TEXTS, str),
    **dict.fromkeys(("pytest_exit", "round"), int),
    **dict.fromkeys(("digests", "environment", "measurement", "replay"), dict),
    "declared": list,
    "environment.variables": dict,
    "environment.precision": dict,
    "measurement.fallbacks": dict,
    "replay.fallbacks": dict,
    "replay.tuned_keys": int,
}


def identity_path(out_dir: Path | str) -> Path:
    return Path(out_dir) / FILE_NAME


def now() -> str:
    """The current time in UTC, ISO 8601 with microseconds."""
    return datetime.now(timezone.utc).isoformat(timespec="microseconds")


def init_identity(out_dir: Path | str, **fields: Any) -> dict[str, Any]:
    """Start a run's identity, replacing whatever an earlier run left there."""
    identity = {"schema_version": SCHEMA_VERSION, "provider": "flaggems", "status": "running", **fields}
    write_json(identity_path(out_dir), identity)
    return identity


def update_identity(out_dir: Path | str, **fields: Any) -> dict[str, Any]:
    """Set fields of an existing identity. A mapping is merged into the mapping that is there, one level deep.

    Raises IdentityError when there is no readable identity to update.
    """
    identity = load_identity(out_dir)
    for name, value in fields.items():
        old = identity.get(name)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            value = {**old, **value}
        identity[name] = value
    write_json(identity_path(out_dir), identity)
    return identity


def load_identity(out_dir: Path | str) -> dict[str, Any]:
    """Read a run's identity. Raises IdentityError when it is missing, malformed, or of another schema."""
    path = identity_path(out_dir)
    identity = read_object(path, IdentityError, what="identity", schema=SCHEMA_VERSION)
    _check_types(identity, path)
    return identity


def _check_types(identity: Mapping[str, Any], path: Path) -> None:
    for name, kind in _TYPES.items():
        head, _, field = name.partition(".")
        value = (identity.get(head) or {}).get(field) if field else identity.get(head)
        if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
            raise IdentityError(
                f"unreadable identity {path}: {name} is {type(value).__name__}; {kind.__name__} is expected"
            )
    used = (identity.get("replay") or {}).get("used")
    if not isinstance(used, list | None) or not all(isinstance(use, dict) for use in used or ()):
        raise IdentityError(f"unreadable identity {path}: replay.used holds no list of objects")
    if not all(isinstance(axis, str) for axis in identity.get("declared") or ()):
        raise IdentityError(f"unreadable identity {path}: declared holds more than texts; str is expected")
