"""The static costs of everything that a run compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zlbench_core.errors import ArchiveError
from zlbench_core.ir.archive import read_archive
from zlbench_core.judge.ir.costs import costs_of
from zlbench_core.judge.ir.text import settings

_PLAIN = ("registers", "spills", "shared_bytes", "local_bytes", "code_bytes")


def read_costs(run_dir: Path | str, kernel: str | None = None) -> list[dict[str, Any]]:
    """{"kernel", "variant", "settings", "config", "cost"} of each variant of a run, of one kernel where asked for.

    Raises ArchiveError when the archive cannot be read, holds nothing, or has not that kernel.
    """
    archive = read_archive(run_dir)
    chosen = [variant for variant in archive.variants if kernel in (None, variant.kernel)]
    if not chosen:
        known = ", ".join(sorted({variant.kernel for variant in archive.variants})) or "none"
        raise ArchiveError(f"no kernel {kernel or ''} in {archive.path}; there are {known}")
    return [
        {
            "kernel": variant.kernel,
            "variant": variant.variant_id,
            "settings": settings(variant),
            "config": variant.config,
            "cost": cost,
        }
        for variant, cost in zip(chosen, costs_of(chosen), strict=True)
    ]


def cost_lines(costs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The lines of the printed table: instructions as their number and the three largest classes."""
    return [
        {
            **{name: entry[name] for name in ("kernel", "variant", "settings")},
            **{name: entry["cost"][name] for name in _PLAIN},
            "instructions": _total(entry["cost"]["instructions"]),
            "classes": _largest(entry["cost"]["instructions"]),
        }
        for entry in costs
    ]


def gaps(costs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Why cells of the table are empty, each reason once."""
    reasons = [
        f"{name}: {reason}"
        for entry in costs
        for name, reason in entry["cost"]["reasons"].items()
        if name in (*_PLAIN, "instructions")
    ]
    return list(dict.fromkeys(reasons))


def _total(classes: Mapping[str, int] | None) -> int | None:
    return None if classes is None else sum(classes.values())


def _largest(classes: Mapping[str, int] | None) -> str | None:
    if classes is None:
        return None
    largest = sorted(classes, key=lambda name: -classes[name])[:3]
    return " ".join(f"{name}={classes[name]}" for name in largest)
