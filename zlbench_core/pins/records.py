"""records.json: what a tuner chose for each key that it met, written while the run goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from zlbench_core.common.files import read_object, write_json
from zlbench_core.errors import PinsError
from zlbench_core.pins.keys import key_id

SCHEMA_VERSION = 1
FILE_NAME = "records.json"
NO_VALID_CONFIG = "no valid config"
STATUSES = ("complete", "partial")

EntryId = tuple[str, str, str]  # kernel_id, key_id, source_digest


@dataclass(frozen=True)
class Entry:
    """One key of one kernel. Times are milliseconds, tuning_s seconds."""

    kernel: str
    kernel_id: str
    source_digest: str
    key: list[Any]
    key_id: str
    winner: dict[str, Any] | None
    winner_ms: float | None
    n_configs: int
    n_finite: int
    pre_hook: bool
    tuner: str
    reason: str | None = None
    runners_up: list[dict[str, Any]] = field(default_factory=list)
    near_ties: list[dict[str, Any]] = field(default_factory=list)
    n_dropped: int = 0
    tuning_s: float | None = None
    from_cache: bool = False

    @property
    def id(self) -> EntryId:
        return (self.kernel_id, self.key_id, self.source_digest)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Any, where: str) -> Entry:
        """Raises PinsError naming `where` and the field that is missing, unknown or of the wrong type."""
        if not isinstance(value, Mapping):
            raise PinsError(f"{where}: an entry is {type(value).__name__}; a JSON object is expected")
        known = {one.name for one in fields(cls)}
        if odd := sorted(set(value) - known):
            raise PinsError(f"{where}: an entry has the unknown field {odd[0]!r}")
        try:
            entry = cls(**value)
        except TypeError as error:
            raise PinsError(f"{where}: an entry is incomplete: {error}") from None
        _check(entry, where)
        return entry


def _check(entry: Entry, where: str) -> None:
    label = f"{where}: entry {entry.kernel!r} key {entry.key!r}"
    if not isinstance(entry.key, list) or entry.key_id != key_id(entry.key):
        raise PinsError(f"{label}: key_id {entry.key_id!r} is not the digest of the key")
    if entry.winner is None and entry.reason is None:
        raise PinsError(f"{label}: no winner and no reason for that")
    if entry.winner is not None and not _is_config(entry.winner):
        raise PinsError(f"{label}: winner {entry.winner!r} is no config; an object with kwargs is expected")


def _is_config(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("kwargs"), dict)


@dataclass(frozen=True)
class Records:
    status: str
    backend: str
    entries: list[Entry]
    plan: list[dict[str, Any]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "status": self.status,
            "backend": self.backend,
            "entries": [entry.to_json() for entry in self.entries],
            "plan": self.plan,
        }


def write_records(folder: Path | str, records: Records) -> None:
    write_json(Path(folder) / FILE_NAME, records.to_json())


def read_records(folder: Path | str) -> Records:
    """A shard folder's records. Raises PinsError when they are missing, truncated or of another schema."""
    path = Path(folder) / FILE_NAME
    value = read_object(path, PinsError, what="records", schema=SCHEMA_VERSION)
    if value.get("status") not in STATUSES:
        raise PinsError(f"{path}: status {value.get('status')!r}; {' or '.join(STATUSES)} is expected")
    plan = value.get("plan", [])
    if not isinstance(plan, list) or not all(isinstance(part, dict) for part in plan):
        raise PinsError(f"{path}: plan is no list of JSON objects")
    return Records(value["status"], str(value.get("backend")), entries_of(value, path), plan)


def entries_of(value: Mapping[str, Any], path: Path) -> list[Entry]:
    entries = value.get("entries")
    if not isinstance(entries, list):
        raise PinsError(f"{path}: entries is {type(entries).__name__}; a list is expected")
    return [Entry.from_json(one, str(path)) for one in entries]
