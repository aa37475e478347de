"""Digests of the harness's own files: what a receipt names, and what a plan depends on.

Cut by folder and by what imports what, so that no list of files has to be kept (docs/design.md, "The cut").
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from zlbench_core.common.files import sha256_of
from zlbench_core.common.places import PACKAGE, WORKFLOW

# They begin a campaign or read a finished run; nothing that measures imports them (tests/unit/run/test_rooms.py).
READING = frozenset({"caliber", "commands", "judge", "report", "results", "start", "verdicts"})
_SUFFIXES = {".py", ".yaml", ".smk", ".j2", ".css", ".js"}
_SCHEMAS = "campaign/schemas"
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(zlbench_core[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)|import[ \t]+(zlbench_core[\w.]*))",
    re.M,
)
_NAME = re.compile(r"\w+")


@cache
def measuring_sources() -> str:
    """A digest of the sources that take part in a measurement, 16 hex digits.

    All of the package but the rooms that read, and the workflow's scripts that import zlbench_core.run.
    """
    package = {name: path for name, path in _below(PACKAGE).items() if name.split("/")[0] not in READING}
    scripts = {
        f"scripts/{name}": path for name, path in _below(WORKFLOW / "scripts").items() if _measures(path)
    }
    return _digest({**package, **scripts})


@cache
def sources_of(script: str) -> str:
    """A digest of a workflow's script, of all that it imports of this package, and of the schemas: 16 hex digits."""
    path = WORKFLOW / "scripts" / script
    found: dict[str, Path] = {f"scripts/{script}": path}
    open_paths = [path]
    while open_paths:
        for name in _imported(open_paths.pop()):
            for module in _modules(name):
                key = module.relative_to(PACKAGE).as_posix()
                if key not in found:
                    found[key] = module
                    open_paths.append(module)
    schemas = {f"{_SCHEMAS}/{name}": path for name, path in _below(PACKAGE / _SCHEMAS).items()}
    return _digest(dict(sorted({**found, **schemas}.items())))


def harness_files() -> dict[str, str]:
    """sha256 of every source of the package and of the workflow, by path below the checkout; in a wheel by the same."""
    workflow = {f"workflow/{name}": path for name, path in _below(WORKFLOW).items()}
    package = {f"{PACKAGE.name}/{name}": path for name, path in _below(PACKAGE).items()}
    named = {**package, **workflow, "workflow/Snakefile": WORKFLOW / "Snakefile"}
    return {name: sha256_of(path) for name, path in named.items() if path.is_file()}


def _measures(script: Path) -> bool:
    return any(f"{name}.".startswith("zlbench_core.run.") for name in _imported(script))


@cache
def _imported(path: Path) -> frozenset[str]:
    """Every dotted name of this package that a source imports, wherever in it; of `from a import b` both `a` and `a.b`.

    By a pattern: a start of Snakemake waits for it, and parsing takes five times as long. A name in a text counts too.
    """
    names: set[str] = set()
    for package, listed, module in _IMPORT.findall(path.read_text(encoding="utf-8")):
        names |= {module} if module else {package, *(f"{package}.{name}" for name in _NAME.findall(listed))}
    return frozenset(names)


def _modules(name: str) -> Iterator[Path]:
    """The files of this package that are run when `name` is imported: its own, and those of the packages above it."""
    folder = PACKAGE
    for part in ["", *name.split(".")[1:]]:
        folder = folder / part
        for path in (folder / "__init__.py", folder.with_suffix(".py")):
            if path in _package_files():
                yield path


@cache
def _package_files() -> frozenset[Path]:
    return frozenset(PACKAGE.rglob("*.py"))


def _below(root: Path) -> dict[str, Path]:
    paths = sorted(path for path in root.rglob("*") if path.suffix in _SUFFIXES and path.is_file())
    return {path.relative_to(root).as_posix(): path for path in paths}


def _digest(sources: dict[str, Path]) -> str:
    digest = hashlib.sha256()
    for name, path in sources.items():
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
