"""The caliber guard: two runs may be compared only where everything but the declared axis is the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from zlbench_core.backends.variables import LOCATIONS, PREFIXES
from zlbench_core.caliber.fields import CALIBER_FIELDS, REQUIRED, field_of
from zlbench_core.caliber.modes import MODES, modes_first
from zlbench_core.caliber.recorded import Recorded, differing_fields
from zlbench_core.errors import CaliberMismatch, IdentityError
from zlbench_core.records.identity import load_identity, lookup
from zlbench_core.records.identity_fields import PYTHON, VARIABLE

__all__ = [
    "CALIBER_FIELDS",
    "CaliberMismatch",
    "compared_values",
    "equal_sides",
    "field_complaints",
    "hazards",
    "incomparable",
    "is_declared",
    "missing_fields",
    "undeclared_differences",
]

Run = Path | str | Mapping[str, Any] | Recorded  # a run folder, or its identity
Runs = Sequence[tuple[str, Run]]  # by label

_VARIABLES = "environment.variables."
# A side that points PYTHONPATH or the linker at another build has declared another python.
_DECLARE_PYTHON = {PYTHON, "env:PYTHONPATH", "env:LD_LIBRARY_PATH"}


def incomparable(runs: Runs, declared_axis: Sequence[str]) -> list[str]:
    """Every reason why these runs may not be compared, each once; the guard of every comparison, in this order.

    Another autotune mode, the caliber's fields, what nobody recorded, what differs and was not declared, what was
    declared and does not differ. `runs` are labelled by side first: "a", or "a r1".
    """
    complaints = field_complaints(runs)
    if not any(line.startswith("run_identity") for line in complaints):
        complaints += missing_fields(runs) + undeclared_differences(runs, declared_axis)
        complaints += equal_sides(runs, declared_axis)
    return modes_first(list(dict.fromkeys(complaints)), _load(runs)[0], is_declared)


def field_complaints(runs: Runs) -> list[str]:
    """What makes these runs incomparable: sentences that start with the field's name; empty when nothing does.

    A missing identity or field is a complaint, never assumed equal.
    """
    identities, complaints = _load(runs)
    for field in CALIBER_FIELDS:
        complaints += _compare(field, {label: identity.get(field) for label, identity in identities.items()})
    return complaints + _autotune_complaints(identities)


def hazards(runs: Runs) -> list[str]:
    """What deserves a warning though it does not make the runs incomparable."""
    identities, _ = _load(runs)
    shared = [
        f"tuner_cache: {label} records winners on {identity['tuner_cache']}: they may be inherited, not measured"
        for label, identity in identities.items()
        if identity.get("autotune_mode") == "record"
        and str(identity.get("tuner_cache", "")).startswith("shared")
    ]
    return shared + _pins_from_elsewhere(list(identities.values())) + _several_devices(identities)


def _several_devices(identities: Mapping[str, Mapping[str, Any]]) -> list[str]:
    found = sorted({str(uuid) for identity in identities.values() if (uuid := identity.get("device_uuid"))})
    if len(found) < 2:
        return []
    return [f"device_uuid: the rounds ran on {len(found)} devices of one model: {', '.join(found)}"]


def _pins_from_elsewhere(identities: Sequence[Mapping[str, Any]]) -> list[str]:
    """Pins that were recorded on a device, or with a compiler, that no run here has."""
    found = []
    for name, here_of in (("device", _device), ("compiler", _compiler)):
        recorded = [lookup(identity, f"replay.recorded.{name}") for identity in identities]
        known = [one for one in recorded if one is not None]
        here = [here_of(identity) for identity in identities]
        if known and not any(one in here for one in known):
            found.append(f"replay: the pins were recorded with {name} {known[0]}, which no run here has")
    return found


def _device(identity: Mapping[str, Any]) -> Any:
    return identity.get("device")


def _compiler(identity: Mapping[str, Any]) -> dict[str, Any]:
    environment = identity.get("environment") or {}
    return {name: environment.get(name) for name in ("torch", "triton", "triton_build")}


def undeclared_differences(runs: Runs, declared_axis: Sequence[str]) -> list[str]:
    """Whatever differs in the identities beyond the seven fields and is not on the declared axis.

    `declared_axis` has entries "env:NAME", "python" and "provider_dir" (Campaign.declared_axis).
    Raises IdentityError when a run has no identity: field_complaints is asked first.
    """
    known = {label: _recorded(run) for label, run in runs}
    identities = {label: one.identity for label, one in known.items()}
    flat = {label: one.flat for label, one in known.items()}
    complaints = []
    for name in sorted(differing_fields(list(known.values()))):
        if not is_declared(name, declared_axis):
            values = {label: identity.get(name) for label, identity in flat.items()}
            complaints += _differs(name, values, _unset(name, identities))
    complaints += _other_devices(flat) + _replay_gaps(identities)
    return complaints + _replay_complaints(known)


def equal_sides(runs: Runs, declared_axis: Sequence[str]) -> list[str]:
    """A complaint when the sides were declared to differ and ran alike: then there is nothing to compare.

    Raises IdentityError when a run has no identity: field_complaints is asked first.
    """
    flat = [(label, _recorded(run).flat) for label, run in runs]
    names = {name for _, identity in flat for name in identity}
    declared = sorted(name for name in names if is_declared(name, declared_axis))
    sides: dict[str, set[str]] = {}
    for label, identity in flat:
        told = repr([(name, identity[name]) for name in declared if name in identity])
        sides.setdefault(label.split()[0], set()).add(told)
    if len(sides) < 2 or not declared_axis or len(set().union(*sides.values())) > 1:
        return []
    return [f"declared: the sides were to differ in {', '.join(declared_axis)}, and ran alike in all of it"]


def missing_fields(runs: Runs) -> list[str]:
    """Fields of REQUIRED that a run did not record: what nobody wrote down is never assumed equal.

    Raises IdentityError when a run has no identity: field_complaints is asked first.
    """
    identities = {label: _identity(path) for label, path in runs}
    complaints = []
    for name in REQUIRED:
        missing = [label for label, identity in identities.items() if lookup(identity, name) is None]
        complaints += (
            [f"{name}: not recorded by {', '.join(missing)}, and never assumed equal"] if missing else []
        )
    return complaints + _unreadable_precision(runs)


def _unreadable_precision(runs: Runs) -> list[str]:
    """Mixing torch's two ways to set a precision makes reading it raise: two sides' "unknown" are not equal."""
    unknown: dict[str, list[str]] = {}
    for label, path in runs:
        for name, value in (lookup(_identity(path), "environment.precision") or {}).items():
            if value == "unknown":
                unknown.setdefault(name, []).append(label)
    return [
        f"environment.precision.{name}: not readable by {', '.join(labels)}, and never assumed equal"
        for name, labels in unknown.items()
    ]


def _other_devices(flat: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The sides of a round share one device. Rounds may not: a scheduler hands out what is free, and a round is
    judged by what it says of its two sides. Runs of different rounds are two runs that exist: one device for all.

    Where a device has no unique id its index has to stand for it.
    """
    if len({label.split()[0] for label in flat}) < 2:
        return []
    rounds: dict[Any, dict[str, Mapping[str, Any]]] = {}
    for label, identity in flat.items():
        rounds.setdefault(identity.get("round"), {})[label] = identity
    pairs = [runs for runs in rounds.values() if len({label.split()[0] for label in runs}) > 1]
    complaints = []
    for runs in pairs or [dict(flat)]:
        uuids = {label: identity.get("device_uuid") for label, identity in runs.items()}
        complaints += _differs("device_uuid", uuids)
        if None in uuids.values():
            indices = {label: identity.get("device_index") for label, identity in runs.items()}
            complaints += _differs("device_index", indices)
    return complaints


def compared_values(identity: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an identity that a comparison looks at, nested names joined by dots."""
    judged = {
        name: lookup(identity, name) for name in (*CALIBER_FIELDS, "autotune_mode", "replay.pins_digest")
    }
    one = Recorded(identity)
    return judged | {name: one.flat[name] for name in one.compared}


def _recorded(run: Run) -> Recorded:
    return run if isinstance(run, Recorded) else Recorded(_identity(run))


def _identity(run: Run) -> Mapping[str, Any]:
    if isinstance(run, Recorded):
        return run.identity
    return run if isinstance(run, Mapping) else load_identity(run)


def _load(runs: Runs) -> tuple[dict[str, Mapping[str, Any]], list[str]]:
    identities: dict[str, Mapping[str, Any]] = {}
    complaints: list[str] = []
    for label, path in runs:
        try:
            identities[label] = _identity(path)
        except IdentityError as error:
            complaints.append(f"run_identity: {label}: {error}")
    return identities, complaints


def _compare(field: str, values: Mapping[str, Any]) -> list[str]:
    missing = [label for label, value in values.items() if value is None]
    if missing:
        return [f"{field}: not recorded by {', '.join(missing)}, and never assumed equal"]
    return _differs(field, values)


def _differs(field: str, values: Mapping[str, Any], unset: Collection[str] = ()) -> list[str]:
    """`unset` are the labels of the runs whose missing value says that there was none."""
    if _all_alike(list(values.values())):
        return []
    absent = {label: "unset" if label in unset else "not recorded" for label in values}
    told = ", ".join(f"{label}={absent[label] if one is None else one}" for label, one in values.items())
    return [f"{field}: {told}"]


def _all_alike(values: Sequence[Any]) -> bool:
    first = values[0] if values else None
    if type(first) is str or first is None:
        return all(type(value) is type(first) and value == first for value in values)
    return len({repr(value) for value in values}) == 1


def _unset(field: str, identities: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The runs that would have recorded this variable, had it been set in them."""
    variable = field.removeprefix(_VARIABLES)
    if variable == field:
        return []
    known = variable.startswith(PREFIXES) and variable not in LOCATIONS
    return [
        label
        for label, identity in identities.items()
        if (known or f"env:{variable}" in (identity.get("declared") or ()))
        and lookup(identity, "environment.variables") is not None
    ]


def _autotune_complaints(identities: Mapping[str, Mapping[str, Any]]) -> list[str]:
    modes = {label: identity.get("autotune_mode") for label, identity in identities.items()}
    missing = [label for label, mode in modes.items() if mode is None]
    if missing:
        return [f"autotune_mode: not recorded by {', '.join(missing)}, and never assumed equal"]
    kinds = set(modes.values())
    if unknown := sorted(str(kind) for kind in kinds if kind not in MODES):
        return [f"autotune_mode: {', '.join(unknown)}; one of {', '.join(MODES)} is expected"]
    if kinds == {"record"} and len(modes) > 1:
        return [
            "autotune_mode: every side recorded its own winners (record against record); pin one record on both"
        ]
    if "off" in kinds and len(kinds) > 1:
        return _differs("autotune_mode", modes)
    tuned = {label: count for label, identity in identities.items() if (count := _tuned_keys(identity))}
    if kinds == {"off"} and tuned and len(modes) > 1:
        told = [f"autotune_mode: off, and {', '.join(tuned)} tuned by itself (record against record)"]
        return told + _inherited(identities)
    return []


def _inherited(identities: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """One cache behind runs that tuned different numbers of keys: the others found winners that they never timed."""
    counts = {label: _tuned_keys(identity) for label, identity in identities.items()}
    caches = {str(identity.get("tuner_cache")) for identity in identities.values()}
    if len(caches) > 1 or not next(iter(caches)).startswith("shared") or len(set(counts.values())) <= 1:
        return []
    told = ", ".join(f"{label} tuned {count} keys" for label, count in counts.items())
    return [f"tuner_cache: {told} on {next(iter(caches))}: winners were inherited"]


def _tuned_keys(identity: Mapping[str, Any]) -> int:
    return int((identity.get("replay") or {}).get("tuned_keys") or 0)


def _replay_gaps(identities: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What some replays recorded of their pins and others did not: flattened, nothing and an empty list look alike."""
    complaints = []
    for name in ("replay.fallbacks", "replay.used"):
        known = {label: lookup(identity, name) is not None for label, identity in identities.items()}
        missing = [label for label, there in known.items() if not there]
        if any(known.values()) and missing:
            complaints.append(f"{name}: not recorded by {', '.join(missing)}, and never assumed equal")
    return complaints


def _replay_complaints(known: Mapping[str, Recorded]) -> list[str]:
    fell_back = [
        f"replay: {label} fell back from its pins {value} times (reason={reason})"
        for label, one in known.items()
        for reason, value in one.fallbacks.items()
    ]
    return fell_back + _other_configs(known)


def _other_configs(known: Mapping[str, Recorded]) -> list[str]:
    """Keys that two runs launched with different configs, whatever their pins say."""
    if len({one.used for one in known.values()}) <= 1:
        return []
    launched: dict[str, dict[str, str]] = {}
    for label, one in known.items():
        for use in one.flat.get("replay.used") or ():
            key = f"{use.get('kernel')} {use.get('key')}"
            launched.setdefault(key, {})[label] = repr(use.get("config"))
    return [line for key, configs in launched.items() for line in _differs(f"replay.used: {key}", configs)]


def is_declared(name: str, axis: Sequence[str]) -> bool:
    """Whether a field of the identities is what the sides are declared to differ in."""
    declared_by = field_of(name).declared_by
    if declared_by == VARIABLE:
        return f"env:{name.removeprefix(_VARIABLES)}" in axis
    if declared_by == PYTHON:
        return bool(_DECLARE_PYTHON & set(axis))
    return declared_by in axis


def __getattr__(name: str) -> Any:
    """The names by which callers of the first zl_bench know this module; nothing here calls what they stand for."""
    if name not in ("caliber_complaints", "caliber_hazards"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from zlbench_core.caliber import door

    return getattr(door, name)
