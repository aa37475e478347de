"""Digests of the harness's own files: what a receipt names, and what a plan depends on."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from zlbench_core.common.files import sha256_of
from zlbench_core.common.places import PACKAGE, WORKFLOW

_SUFFIXES = {".py", ".yaml", ".smk", ".j2", ".css", ".js"}
# These read finished runs: a change in them recomputes the summary, and no measurement.
_READERS = (
    "results/",
    "verdicts/",
    "report/",
    "commands/",
    "commands/cli.py",
    "common/progress.py",
    "judge/summary.py",
    "judge/lines.py",
    "judge/judge.py",
    "judge/compare.py",
    "judge/code.py",
)
_READERS += (
    "start/plan_changes.py",
    "start/snakemake_console.py",
    "judge/accept.py",
    "judge/show.py",
    "judge/receipt.py",
    "judge/status.py",
    "judge/collect.py",
    "start/failures.py",
    "judge/evidence.py",
    "judge/guards.py",
    "judge/look.py",
    "start/mend.py",
    "judge/parts.py",
    "judge/recompute.py",
    "start/replaced.py",
    "judge/store.py",
    "caliber",
    "campaign/quick_schemas.py",
    "commands/",
    "common/locks.py",
    "start/snakemake_api.py",
    "start/run_folder.py",
    "scripts/first_look.py",
    "scripts/report.py",
    "scripts/require_accepted.py",
    "scripts/summarise.py",
)


@cache
def measuring_sources() -> str:
    """A digest of the sources that take part in a measurement, the workflow's scripts among them, 16 hex digits."""
    return _digest({name: path for name, path in _sources().items() if not name.startswith(_READERS)})


@cache
def all_sources() -> str:
    """A digest of all sources of the package and of the workflow's scripts, 16 hex digits."""
    return _digest(_sources())


def harness_files() -> dict[str, str]:
    """sha256 of every source of the package and of the workflow, by path below the checkout; in a wheel by the same."""
    workflow = {f"workflow/{name}": path for name, path in _below(WORKFLOW).items()}
    package = {f"{PACKAGE.name}/{name}": path for name, path in _below(PACKAGE).items()}
    named = {**package, **workflow, "workflow/Snakefile": WORKFLOW / "Snakefile"}
    return {name: sha256_of(path) for name, path in named.items() if path.is_file()}


def _sources() -> dict[str, Path]:
    """What a rule's result may depend on, by path below the package."""
    scripts = _below(WORKFLOW / "scripts")
    return {**_below(PACKAGE), **{f"scripts/{name}": path for name, path in scripts.items()}}


def _below(root: Path) -> dict[str, Path]:
    paths = sorted(path for path in root.rglob("*") if path.suffix in _SUFFIXES and path.is_file())
    return {path.relative_to(root).as_posix(): path for path in paths}


def _digest(sources: dict[str, Path]) -> str:
    digest = hashlib.sha256()
    for name, path in sources.items():
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
