"""What failed in this Snakemake run, from the failed steps' own JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from zlbench_core.chain.step import FAILURE_SUFFIX

Known = Mapping[Path, int]


def known_failures(folder: Path) -> dict[Path, int]:
    """The failures that are there already, by path and time of writing (ns): compared, never ordered, since a
    clock may step back while a campaign runs."""
    found = {}
    for path in folder.rglob(f"*{FAILURE_SUFFIX}"):
        try:
            found[path] = path.stat().st_mtime_ns
        except OSError:
            continue
    return found


def failure_lines(folder: Path, known: Known) -> list[str]:
    """One line per step that failed since `known` was read, oldest first."""
    fresh = {path: when for path, when in known_failures(folder).items() if known.get(path) != when}
    lines = []
    for path in sorted(fresh, key=lambda path: (fresh[path], path)):
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            lines.append(f"{told['step']}: {told['line']}")
        except (OSError, ValueError, KeyError, TypeError) as error:
            lines.append(f"{path}: unreadable ({error})")
    return list(dict.fromkeys(lines))
