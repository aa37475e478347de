"""Digests of the harness's own files: what a receipt names, and what a plan depends on."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from zlbench_core.files import sha256_of

PACKAGE = Path(__file__).parent
WORKFLOW = PACKAGE.parent / "workflow"
_SUFFIXES = {".py", ".yaml", ".smk", ".j2", ".css", ".js"}
# These read finished runs: a change in them recomputes the summary, and no measurement.
_READERS = (
    "results/",
    "verdicts/",
    "report/",
    "commands/",
    "cli.py",
    "progress.py",
    "chain/summary.py",
    "chain/lines.py",
    "chain/judge.py",
    "chain/compare.py",
    "chain/code.py",
)
_READERS += (
    "plan_changes.py",
    "snakemake_console.py",
    "chain/accept.py",
    "chain/show.py",
    "chain/receipt.py",
    "chain/status.py",
    "chain/collect.py",
    "chain/failures.py",
    "chain/evidence.py",
    "chain/guards.py",
    "chain/look.py",
    "chain/mend.py",
    "chain/parts.py",
    "chain/recompute.py",
    "chain/replaced.py",
    "chain/store.py",
    "caliber",
    "quick_schemas.py",
    "commands/",
    "folder_lock.py",
    "snakemake_api.py",
)


@cache
def measuring_sources() -> str:
    """A digest of the sources that take part in a measurement, 16 hex digits."""
    return _digest([path for path in _sources(PACKAGE) if not _relative(path).startswith(_READERS)])


@cache
def all_sources() -> str:
    """A digest of all sources of the package, 16 hex digits."""
    return _digest(_sources(PACKAGE))


def harness_files() -> dict[str, str]:
    """sha256 of every source of the package and of the workflow, by path below the checkout."""
    paths = [*_sources(PACKAGE), *_sources(WORKFLOW), WORKFLOW / "Snakefile"]
    return {path.relative_to(PACKAGE.parent).as_posix(): sha256_of(path) for path in paths if path.is_file()}


def _sources(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.suffix in _SUFFIXES and path.is_file())


def _relative(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def _digest(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(_relative(path).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
