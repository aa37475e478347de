"""The caliber guard: two runs may be compared only where everything but the declared axis is the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from zlbench_core.errors import CaliberMismatch, IdentityError
from zlbench_core.identity import load_identity

__all__ = [
    "CALIBER_FIELDS",
    "CaliberMismatch",
    "caliber_complaints",
    "caliber_hazards",
    "missing_fields",
    "undeclared_differences",
]

CALIBER_FIELDS = ("backend", "device", "timer", "bench_level", "shape_mode", "tuner_cache", "direct_repeat")

# Beyond the caliber's seven: what every run of zlbench records, whatever its device.
REQUIRED = (
    "provider",
    "op",
    "test_node",
    "harness",
    "measurement.mode",
    "environment.python",
    "environment.torch",
    "environment.triton",
    "environment.variables",
    "environment.precision",
)

Runs = Sequence[tuple[str, Path | str]]

# What differs between any two runs and says nothing about comparability.
_VOLATILE = {
    "started",
    "ended",
    "side",
    "round",
    "pytest_exit",
    "timed_out",
    "status",
    "failure",
    "digests",
    "out_dir",
    "ir",
    "order",
}
_VOLATILE |= {
    "schema_version",
    "autotune_mode",
    "declared",
    "plan",
    "compiled",
    "device_index",
    "gpu",
    "mm_cluster_fix",
    "caches",
    *CALIBER_FIELDS,
}
# Judged by their own rules: replays below, fallbacks of the timer row by row when rows are paired.
_OWN_RULES = ("replay.", "measurement.fallbacks", "measurement.rows")
_PYTHON_AXIS = ("environment.",)
_PYTHON_AXIS_EXCEPT = ("environment.variables.", "environment.precision.", "environment.cpu")
_PROVIDER_AXIS = ("environment.provider", "provider_dir", "provider_commit", "provider_dirty")


def caliber_complaints(runs: Runs) -> list[str]:
    """What makes these runs incomparable: sentences that start with the field's name; empty when nothing does.

    A missing identity or field is a complaint, never assumed equal.
    """
    identities, complaints = _load(runs)
    for field in CALIBER_FIELDS:
        complaints += _compare(field, {label: identity.get(field) for label, identity in identities.items()})
    return complaints + _autotune_complaints(identities)


def caliber_hazards(runs: Runs) -> list[str]:
    """What deserves a warning though it does not make the runs incomparable."""
    identities, _ = _load(runs)
    return [
        f"tuner_cache: {label} records winners on {identity['tuner_cache']}: they may be inherited, not measured"
        for label, identity in identities.items()
        if identity.get("autotune_mode") == "record"
        and str(identity.get("tuner_cache", "")).startswith("shared")
    ]


def undeclared_differences(runs: Runs, declared_axis: Sequence[str]) -> list[str]:
    """Whatever differs in the identities beyond the seven fields and is not on the declared axis.

    `declared_axis` has entries "env:NAME", "python" and "provider_dir" (Campaign.declared_axis).
    Raises IdentityError when a run has no identity: caliber_complaints is asked first.
    """
    flat = {label: dict(_flatten(load_identity(path))) for label, path in runs}
    names = sorted({name for identity in flat.values() for name in identity})
    complaints = []
    for name in names:
        if not _is_volatile(name) and not _is_declared(name, declared_axis):
            complaints += _differs(name, {label: identity.get(name) for label, identity in flat.items()})
    return complaints + _replay_complaints(flat)


def missing_fields(runs: Runs) -> list[str]:
    """Fields of REQUIRED that a run did not record: what nobody wrote down is never assumed equal.

    Raises IdentityError when a run has no identity: caliber_complaints is asked first.
    """
    complaints = []
    for name in REQUIRED:
        missing = [label for label, path in runs if _lookup(load_identity(path), name) is None]
        complaints += (
            [f"{name}: not recorded by {', '.join(missing)}, and never assumed equal"] if missing else []
        )
    return complaints + _unreadable_precision(runs)


def _unreadable_precision(runs: Runs) -> list[str]:
    """Mixing torch's two ways to set a precision makes reading it raise: two sides' "unknown" are not equal."""
    unknown: dict[str, list[str]] = {}
    for label, path in runs:
        for name, value in (_lookup(load_identity(path), "environment.precision") or {}).items():
            if value == "unknown":
                unknown.setdefault(name, []).append(label)
    return [
        f"environment.precision.{name}: not readable by {', '.join(labels)}, and never assumed equal"
        for name, labels in unknown.items()
    ]


def _lookup(identity: Mapping[str, Any], name: str) -> Any:
    value: Any = identity
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _load(runs: Runs) -> tuple[dict[str, dict[str, Any]], list[str]]:
    identities, complaints = {}, []
    for label, path in runs:
        try:
            identities[label] = load_identity(path)
        except IdentityError as error:
            complaints.append(f"run_identity: {label}: {error}")
    return identities, complaints


def _compare(field: str, values: Mapping[str, Any]) -> list[str]:
    missing = [label for label, value in values.items() if value is None]
    if missing:
        return [f"{field}: not recorded by {', '.join(missing)}, and never assumed equal"]
    return _differs(field, values)


def _differs(field: str, values: Mapping[str, Any]) -> list[str]:
    if len({repr(value) for value in values.values()}) <= 1:
        return []
    told = ", ".join(f"{label}={_show(value)}" for label, value in values.items())
    return [f"{field}: {told}"]


def _show(value: Any) -> str:
    return "not recorded" if value is None else str(value)


def _autotune_complaints(identities: Mapping[str, Mapping[str, Any]]) -> list[str]:
    modes = {label: identity.get("autotune_mode") for label, identity in identities.items()}
    missing = [label for label, mode in modes.items() if mode is None]
    if missing:
        return [f"autotune_mode: not recorded by {', '.join(missing)}, and never assumed equal"]
    kinds = set(modes.values())
    if kinds == {"record"} and len(modes) > 1:
        return [
            "autotune_mode: every side recorded its own winners (record against record); pin one record on both"
        ]
    if "off" in kinds and len(kinds) > 1:
        return _differs("autotune_mode", modes)
    tuned = [label for label, identity in identities.items() if _tuned_keys(identity)]
    if kinds == {"off"} and tuned and len(modes) > 1:
        return [f"autotune_mode: off, and {', '.join(tuned)} tuned by itself (record against record)"]
    return []


def _tuned_keys(identity: Mapping[str, Any]) -> int:
    return int((identity.get("replay") or {}).get("tuned_keys") or 0)


def _replay_complaints(flat: Mapping[str, Mapping[str, Any]]) -> list[str]:
    complaints = []
    for label, identity in flat.items():
        for name, value in identity.items():
            if name.startswith("replay.fallbacks.") and value:
                reason = name.removeprefix("replay.fallbacks.")
                complaints.append(f"replay: {label} fell back from its pins {value} times (reason={reason})")
    digests = {label: identity.get("replay.pins_digest") for label, identity in flat.items()}
    return complaints + _differs("replay.pins_digest", digests)


def _flatten(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, sub in value.items():
            yield from _flatten(sub, f"{prefix}.{name}" if prefix else str(name))
    else:
        yield prefix, value


def _is_volatile(name: str) -> bool:
    return name.split(".")[0] in _VOLATILE or name.startswith(_OWN_RULES)


def _is_declared(name: str, axis: Sequence[str]) -> bool:
    if name.startswith("environment.variables."):
        return f"env:{name.removeprefix('environment.variables.')}" in axis
    # A side that points PYTHONPATH or the linker at another build has declared another python.
    swaps_python = {"python", "env:PYTHONPATH", "env:LD_LIBRARY_PATH"} & set(axis)
    if swaps_python and name.startswith(_PYTHON_AXIS) and not name.startswith(_PYTHON_AXIS_EXCEPT):
        return True
    return "provider_dir" in axis and name.startswith(_PROVIDER_AXIS)
