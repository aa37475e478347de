"""The files of a run that its identity vouches for, by digest."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zlbench_core.common.files import sha256_of
from zlbench_core.records.identity import load_identity

VOUCHED = (
    "run.log",
    "result.json",
    "samples.jsonl",
    "records.json",
    "ir/index.json",
    "header.json",
)


def file_digests(out_dir: Path) -> dict[str, str]:
    """sha256 of each file that a run vouches for, by name, as far as the run wrote it."""
    return {name: sha256_of(out_dir / name) for name in VOUCHED if (out_dir / name).is_file()}


def check_digests(out_dir: Path, identity: Mapping[str, Any] | None = None) -> list[str]:
    """Which files of a finished run are not what its identity (read here, unless it is given) vouches for."""
    digests = (load_identity(out_dir) if identity is None else identity).get("digests")
    digests = digests if isinstance(digests, dict) else {}
    root = os.path.realpath(out_dir)
    unnamed = [name for name in VOUCHED if name not in digests]
    names = {*digests, "run.log", *(name for name in unnamed if os.path.isfile(os.path.join(root, name)))}
    return sorted(name for name in names if not _vouched(root, name, digests.get(name)))


def _vouched(root: str, name: str, digest: Any) -> bool:
    path = os.path.join(root, name)
    return _is_inside(root, name) and os.path.isfile(path) and sha256_of(path) == digest


def _is_inside(root: str, name: str) -> bool:
    """Whether a file is below `root`, links and all. A plain name, the usual case, needs no look at all of its path."""
    parts = name.split("/")
    if not {"", ".", ".."} & set(parts):
        below = [os.path.join(root, *parts[: count + 1]) for count in range(len(parts))]
        if not any(map(os.path.islink, below)):
            return True
    return os.path.realpath(os.path.join(root, name)).startswith(root + os.sep)
