"""Merge the shards of a record sweep into one pins folder, or discard the sweep whole and say why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from zlbench_core.common.files import sha256_of, write_json
from zlbench_core.errors import IdentityError, PinsError
from zlbench_core.pins.configs import describe
from zlbench_core.pins.coverage import coverage_gap, shapes_digest
from zlbench_core.pins.near_ties import Timing, within_noise
from zlbench_core.pins.pins import publish_pins, withdraw_pins
from zlbench_core.pins.records import FILE_NAME, SCHEMA_VERSION, Entry, EntryId, Records, read_records
from zlbench_core.records.identity import load_identity

DISCARDED_NAME = "discarded.json"
SHARED_BY_ALL = ("op", "backend", "device", "provider", "bench_level", "tuner_cache", "tuning")
COMPILER_FIELDS = ("torch", "triton", "triton_build")


@dataclass(frozen=True)
class MergeResult:
    published: bool
    pins_dir: Path
    reason: str | None  # why the sweep was discarded, one line
    keys: int = 0
    kernels: int = 0


class _Discard(Exception):
    """A sweep that must not be published; the text is the reason."""


def merge_shards(
    shard_dirs: Sequence[Path | str],
    pins_dir: Path | str,
    *,
    discarded: Mapping[str, Any] | None = None,
) -> MergeResult:
    """Publish `pins_dir` from all shards, or discard the sweep: then `discarded.json` beside `pins_dir` holds
    the reason, no pins are left there (older ones neither), and the shards' folders are as they were.

    `discarded` is the sweep that this one replaces, with its reason: the published meta keeps it.
    """
    folders, pins_dir = [Path(one) for one in shard_dirs], Path(pins_dir)
    verdict = pins_dir.parent / DISCARDED_NAME
    try:
        known = [load_identity(folder) for folder in folders]
        shards = _read(folders, known)
        entries = _union(folders, shards)
    except (_Discard, PinsError, IdentityError) as error:
        reason = " ".join(str(error).split())
        withdraw_pins(pins_dir)
        shards_named = [str(folder) for folder in folders]
        write_json(verdict, {"schema_version": SCHEMA_VERSION, "reason": reason, "shards": shards_named})
        return MergeResult(False, pins_dir, reason)
    publish_pins(pins_dir, entries, {**_meta(folders, known[0], shards, entries), "discarded": discarded})
    verdict.unlink(missing_ok=True)
    return MergeResult(True, pins_dir, None, len(entries), len({entry.kernel_id for entry in entries}))


def _read(folders: Sequence[Path], identities: Sequence[Mapping[str, Any]]) -> list[Records]:
    if not folders:
        raise _Discard("there is no shard")
    for folder, identity in zip(folders, identities, strict=True):
        _check_ended(folder, identity)
    for name in (*SHARED_BY_ALL, "environment"):
        _check_same(name, folders, identities)
    shards = [read_records(folder) for folder in folders]
    for folder, records, identity in zip(folders, shards, identities, strict=True):
        _check_records(folder, records, identity)
        _check_vouched(folder, identity)
    gap = coverage_gap([records.plan for records in shards])
    if gap is not None:
        raise _Discard(f"hole in coverage: {gap}")
    return shards


def _check_ended(folder: Path, identity: Mapping[str, Any]) -> None:
    status, code = identity.get("status"), identity.get("pytest_exit")
    if status != "complete" or code != 0:
        failure = identity.get("failure")
        ended = f"pytest exit {code!r}"
        told = f" ({failure})" if failure and failure != ended else ""
        raise _Discard(f"{folder.name} ended with status {status!r} and {ended}{told}")


def _check_vouched(folder: Path, identity: Mapping[str, Any]) -> None:
    """The records are those that the finished run vouched for, not what was left of them later."""
    vouched = (identity.get("digests") or {}).get(FILE_NAME)
    path = folder / FILE_NAME
    if not path.is_file() or sha256_of(path) != vouched:
        raise _Discard(f"{folder.name}: {FILE_NAME} is not the file that the run's identity vouches for")


def _check_same(name: str, folders: Sequence[Path], identities: Sequence[Mapping[str, Any]]) -> None:
    values = [_comparable(name, identity) for identity in identities]
    for folder, value in zip(folders, values, strict=True):
        if value != values[0]:
            raise _Discard(f"{folder.name} has {name} {value!r}, {folders[0].name} {values[0]!r}")


def _comparable(name: str, identity: Mapping[str, Any]) -> Any:
    if name != "environment":
        return identity.get(name)
    return {**_compiler(identity), "provider_commit": identity.get("provider_commit")}


def _check_records(folder: Path, records: Records, identity: Mapping[str, Any]) -> None:
    if records.status != "complete":
        raise _Discard(f"{folder.name} wrote only {records.status} records")
    if str(identity.get("tuner_cache", "")).startswith("shared"):
        return
    for entry in records.entries:
        if entry.from_cache:
            raise _Discard(
                f"{folder.name} did not tune {entry.kernel} key {entry.key!r}: a persistent cache answered"
            )


def _union(folders: Sequence[Path], shards: Sequence[Records]) -> list[Entry]:
    union: dict[EntryId, tuple[Path, Entry]] = {}
    for folder, records in zip(folders, shards, strict=True):
        for entry in records.entries:
            if entry.id not in union:
                union[entry.id] = (folder, entry)
                continue
            first_folder, first = union[entry.id]
            union[entry.id] = (first_folder, _agreed(first_folder, first, folder, entry))
    return [entry for _, entry in union.values()]


def _agreed(first_folder: Path, first: Entry, folder: Path, entry: Entry) -> Entry:
    """The first shard's entry, when the other's winner is the same or within noise of it."""
    if entry.winner == first.winner:
        return first
    if entry.winner is None or first.winner is None or not _tied(first, entry):
        raise _Discard(
            f"{first_folder.name} and {folder.name} disagree on {entry.kernel} key {entry.key!r}:"
            f" ({describe(first.winner)}) against ({describe(entry.winner)})"
        )
    if any(one["config"] == entry.winner for one in first.near_ties):
        return first
    return replace(first, near_ties=[*first.near_ties, {"config": entry.winner, "ms": entry.winner_ms}])


def _tied(first: Entry, second: Entry) -> bool:
    """Whether either shard lists the other's winner as a near tie.

    Where both dropped configs after a few launches, neither may have a full time of the other's winner (on an H200
    one key of 210 was so); then both winners must have taken the same time within noise.
    """
    listed = any(one["config"] == second.winner for one in first.near_ties) or any(
        one["config"] == first.winner for one in second.near_ties
    )
    if listed or not first.n_dropped or not second.n_dropped:
        return listed
    times = [Timing.of(one.winner_ms) for one in (first, second)]
    return within_noise(min(times), max(times))


def _meta(
    folders: Sequence[Path], identity: Mapping[str, Any], shards: Sequence[Records], entries: Sequence[Entry]
) -> dict[str, Any]:
    return {
        "op": identity.get("op"),
        "backend": identity.get("backend"),
        "device": identity.get("device"),
        "compiler": _compiler(identity),
        "provider": identity.get("provider"),
        "provider_commit": identity.get("provider_commit"),
        "level": identity.get("bench_level"),
        "shapes_digest": shapes_digest(shards[0].plan),
        "coverage": {"keys": len(entries), "kernels": len({entry.kernel_id for entry in entries})},
        "near_ties": [_near_tie(entry) for entry in entries if entry.near_ties],
        "tuning": identity.get("tuning"),
        "tuning_s": sum(entry.tuning_s or 0.0 for entry in entries),
        "from_cache": sum(entry.from_cache for entry in entries),
        "no_valid_config": sum(entry.winner is None for entry in entries),
        "source_shards": [folder.name for folder in folders],
    }


def _near_tie(entry: Entry) -> dict[str, Any]:
    """A key whose winner is one of several within noise (near_ties.py): another record may pick another."""
    return {
        "kernel": entry.kernel,
        "key": entry.key,
        "winner": entry.winner,
        "winner_ms": entry.winner_ms,
        "within_noise": entry.near_ties,
    }


def _compiler(identity: Mapping[str, Any]) -> dict[str, Any]:
    environment = identity.get("environment") or {}
    return {name: environment.get(name) for name in COMPILER_FIELDS}
