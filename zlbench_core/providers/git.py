"""The commit of a source tree, as an identity records it."""

from __future__ import annotations

import hashlib
import os
import subprocess
from contextlib import suppress
from pathlib import Path


def tree_facts(root: Path) -> dict[str, object]:
    """{"commit": ..., "dirty": ...} of a git checkout, or a digest of its Python files where there is no git."""
    commit = _git(root, "rev-parse", "HEAD")
    if commit is None:
        return {"commit": f"sha256:{source_digest(root)}", "dirty": None}
    # Two dirty trees of one commit are not the same code, so the change itself is part of the answer.
    diff = _git(root, "diff", "HEAD", "--", ".") or ""
    untracked = (
        _git(root, "ls-files", "--others", "--exclude-standard", "--", "*.py", "*.yaml", "*.yml") or ""
    )
    if not diff and not untracked:
        return {"commit": commit, "dirty": False}
    digest = hashlib.sha256(diff.encode())
    for name in untracked.splitlines():
        digest.update(name.encode() + b"\0" + (root / name).read_bytes())
    return {"commit": commit, "dirty": digest.hexdigest()[:16]}


def source_digest(root: Path) -> str:
    """A digest of all Python and YAML sources below `root`, 16 hex digits."""
    digest = hashlib.sha256()
    for path in sources(root):
        with suppress(FileNotFoundError):  # gone since it was listed
            digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def sources(root: Path) -> list[Path]:
    """The Python and YAML files below `root`. A folder that goes while it is listed, or that cannot be, has none."""
    found = (Path(folder, name) for folder, _, names in os.walk(root) for name in names)
    return sorted(path for path in found if path.suffix in {".py", ".yaml"} and os.path.isfile(path))


def _git(root: Path, *args: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *args], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
