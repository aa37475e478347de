"""Before a campaign goes on: what a crash, a full disk or another version left broken is made anew.

Snakemake believes a file that exists. So a run whose identity cannot be trusted is taken away, and measured again;
what can be made again from files that are whole (merged pins, a preflight) is made again at once, with the content
that it had, since a job of Snakemake for it would measure everything below it again (docs/snakemake.md, Reruns).
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zlbench_core.campaign.model import Campaign
from zlbench_core.common.files import sha256_of, write_json
from zlbench_core.errors import IdentityError, PinsError, PreflightError
from zlbench_core.pins.merge import merge_shards
from zlbench_core.pins.pins import DISCARDED, META_NAME, validate_pins
from zlbench_core.records.identity import identity_path, load_identity
from zlbench_core.run.plans import preflight_name
from zlbench_core.run.preflight import preflight
from zlbench_core.start.replaced import Maker, replaced_lines, run_folders


def mend(campaign: Campaign, root: Path) -> list[str]:
    """Mend what is broken below `root`, results/{backend}. One line for each thing that was done, and one for the runs
    of other campaigns that this one will replace.
    """
    makers: dict[Path, Maker] = {}
    for left in (*root.glob(".*.tmp"), *root.glob("*/.*")):  # killed between writing and renaming
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    return [
        *_mend_preflights(campaign, root / "preflight"),
        *(line for op in campaign.subject.ops for line in _mend_operator(campaign, root / op, makers)),
        *(line for path in sorted(root.glob("ir_gate/device-*.json")) for line in _drop_json(path, ())),
        *_drop_json(root / "receipt.json", ("schema_version", "identities")),
        *_drop_json(root / "verdicts.json", ("schema_version", "status", "operators")),
        *replaced_lines(campaign, root, makers),
    ]


def _mend_operator(campaign: Campaign, folder: Path, makers: dict[Path, Maker]) -> Iterator[str]:
    """Puts in `makers` what made each finished round."""
    yield from _mend_pins(campaign, folder)
    for shard in sorted(folder.glob("record/shard-*")):
        yield from _drop_run(shard, {})
    yield from _drop_json(folder / "ir_gate.json", ("schema_version", "status", "op", "verdict"))
    for run in run_folders(campaign, folder):
        yield from _drop_run(run, makers)


def _drop_run(folder: Path, makers: dict[Path, Maker]) -> Iterator[str]:
    path = identity_path(folder)
    if not path.exists():
        return
    try:
        identity = load_identity(folder)
        problem = _problem_of(folder, identity, path.stat().st_mtime_ns)
    except IdentityError as error:
        problem = str(error)
    if not problem:
        makers[folder] = Maker.of(identity)
        return
    path.unlink()
    yield f"{problem}; it is measured again"


def _problem_of(folder: Path, identity: dict[str, Any], written_ns: int) -> str | None:
    if identity.get("status") not in ("complete", "failed"):
        return f"{folder} is of a run that has not ended"
    digests = identity.get("digests")
    if not isinstance(digests, dict) or not digests:
        return f"the identity of {folder} vouches for nothing"
    broken = [
        name for name, digest in digests.items() if _is_broken(os.path.join(folder, name), digest, written_ns)
    ]
    return f"{', '.join(broken)} in {folder} is not what its identity vouches for" if broken else None


def _is_broken(path: str, digest: str, written_ns: int) -> bool:
    """Only a file that is younger than its identity is read: a start must not hash a whole campaign."""
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            return True
        return found.st_mtime_ns > written_ns and sha256_of(path) != digest
    except OSError:
        return True


def _mend_pins(campaign: Campaign, folder: Path) -> Iterator[str]:
    meta = folder / "pins" / META_NAME
    recording = campaign.tuning.recording
    if recording is None or not meta.exists() or _reads(meta).get("status") == DISCARDED:
        return
    try:
        validate_pins(meta.parent)
        return
    except PinsError as error:
        problem = str(error)
    shards = [folder / "record" / f"shard-{number}" for number in range(recording.shards)]
    merged = merge_shards(shards, meta.parent)
    done = "merged again from its record" if merged.published else "recorded again"
    yield f"{problem}; the pins are {done}"


def _mend_preflights(campaign: Campaign, folder: Path) -> Iterator[str]:
    for side in campaign.subject.sides:
        yield from _drop_json(folder / f"{side.name}.json", ("status",))  # the summary writes it
        path = folder / f"{preflight_name(campaign, side.name)}.json"
        if not path.exists() or _reads(path).get("status") == "complete":
            continue
        try:
            write_json(path, preflight(campaign.check_of(side.name)))
            yield f"{path} was not readable; it is made again"
        except PreflightError:
            path.unlink()  # the rule fails with its own line


def _drop_json(path: Path, names: tuple[str, ...]) -> Iterator[str]:
    if path.exists() and (set(names) - _reads(path).keys() or not _reads(path)):
        path.unlink()
        yield f"{path} was not readable; it is made again"


def _reads(path: Path) -> dict[str, Any]:
    """The JSON object in `path`; empty where it is none, or one of another schema."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict) or found.get("schema_version", 1) != 1:
        return {}
    return found
