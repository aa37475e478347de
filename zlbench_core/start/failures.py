"""What failed in this Snakemake run, from the failed steps' own JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from zlbench_core.common.step import FAILURE_SUFFIX, INTERRUPTED, INTERRUPTION, failure_path

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
    return list(dict.fromkeys(told["text"] for told in _fresh(folder, known)))


def told_exit_code(logs: Iterable[Path], known: Known) -> int | None:
    """The exit code that a step with these log files wrote down since `known` was read; None: it told nothing."""
    for path in map(failure_path, logs):
        try:
            if known.get(path) != path.stat().st_mtime_ns:
                return int(json.loads(path.read_text(encoding="utf-8"))["exit_code"])
        except (OSError, ValueError, LookupError, TypeError):
            continue
    return None


def last_word(
    folder: Path, known: Known, *, unfinished: bool, snakemake_log: str | None = None
) -> str | None:
    """What to do now that Snakemake has ended, after all that it says itself; None where it is done.

    `unfinished`: it had begun and did not come to its end. No step failed where it was stopped between two.
    `snakemake_log`: where all of what Snakemake said stands.
    """
    fresh = _fresh(folder, known)
    if any(told.get("exit_code") == INTERRUPTED for told in fresh):
        return f"{INTERRUPTION}, and what is finished stays"
    if fresh:
        first, *more = dict.fromkeys(told["text"] for told in fresh)
        others = f" (and {len(more)} more, named above)" if more else ""
        where = f"; Snakemake's log: {snakemake_log}" if snakemake_log else ""
        return f"zlbench: not done. {first}{others}. Once that is mended, the same command goes on from here{where}"
    if unfinished:
        return (
            "zlbench: stopped before the end; the same command goes on from here, and what is finished stays"
        )
    return None


def _fresh(folder: Path, known: Known) -> list[dict[str, Any]]:
    found = {path: when for path, when in known_failures(folder).items() if known.get(path) != when}
    return [_read(path) for path in sorted(found, key=lambda path: (found[path], path))]


def _read(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return {**told, "text": f"{told['step']}: {told['line']}"}
    except (OSError, ValueError, KeyError, TypeError) as error:
        return {"text": f"{path}: unreadable ({error})"}
