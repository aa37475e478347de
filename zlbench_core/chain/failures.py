"""What failed in this Snakemake run, from the failed steps' own JSON."""

from __future__ import annotations

import json
from pathlib import Path

from zlbench_core.chain.step import FAILURE_SUFFIX


def failure_lines(folder: Path, since: float) -> list[str]:
    """One line per step that failed after `since` (seconds since the epoch), oldest first."""
    found = [path for path in folder.rglob(f"*{FAILURE_SUFFIX}") if path.stat().st_mtime >= since]
    lines = []
    for path in sorted(found, key=lambda path: path.stat().st_mtime):
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            lines.append(f"{told['step']}: {told['line']}")
        except (ValueError, KeyError) as error:
            lines.append(f"{path}: unreadable ({error})")
    return list(dict.fromkeys(lines))
