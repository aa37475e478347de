"""A door for callers of the first zl_bench, whose identities hold the caliber alone; the chain never goes through it.

guard.incomparable, which every comparison of a campaign asks, refuses the same identities: what nobody recorded is
never assumed equal there (tests/unit/door/test_zl_bench.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zlbench_core.caliber.fields import CALIBER_FIELDS
from zlbench_core.caliber.guard import field_complaints, hazards
from zlbench_core.common.files import read_object
from zlbench_core.errors import IdentityError
from zlbench_core.records.identity import identity_path, load_identity

# A run's folder or its identity, by label.
Given = Sequence[tuple[str, Path | str | Mapping[str, Any]]]


def caliber_complaints(runs: Given) -> list[str]:
    """What makes these runs incomparable by the seven fields and the autotune mode; empty where nothing does.

    An identity without a schema version is taken for what it says of those; a missing one is a complaint.
    """
    known, complaints = _known(runs)
    return complaints + field_complaints(known)


def caliber_hazards(runs: Given) -> list[str]:
    """What deserves a warning though it does not make the runs incomparable. Runs without an identity have none."""
    return hazards(_known(runs)[0])


def _known(runs: Given) -> tuple[list[tuple[str, Mapping[str, Any]]], list[str]]:
    known, complaints = [], []
    for label, run in runs:
        try:
            known.append((label, run if isinstance(run, Mapping) else _identity(run)))
        except IdentityError as error:
            complaints.append(f"run_identity: {label}: {error}")
    return known, complaints


def _identity(folder: Path | str) -> Mapping[str, Any]:
    """An identity of ours has to be whole; of another, only the caliber is believed. Raises IdentityError."""
    found = read_object(identity_path(folder), IdentityError, what="identity")
    if "schema_version" in found:
        return load_identity(folder)
    return {name: found.get(name) for name in (*CALIBER_FIELDS, "autotune_mode")}
