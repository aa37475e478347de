"""The parts of a campaign, cut by which rules depend on them (run/plans.py).

A part that a rule needs only half of is two classes: the smaller one is what the rule is handed, so that neither its
plan nor its code can name the rest. As JSON the parts of a campaign lie side by side: no two share a key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from zlbench_core.backends import get_backend
from zlbench_core.campaign.sides import DeclaredSide

TWO_LOOKS = "two-looks"

PartT = TypeVar("PartT", bound="Part")


class Part:
    """A frozen dataclass that is written as JSON, and read again, key by key."""

    def to_json(self) -> dict[str, Any]:
        """As it may be written: values that look like secrets are digests (sealing.py)."""
        return {name: _plain(getattr(self, name)) for name in keys_of(type(self))}

    @classmethod
    def from_json(cls: type[PartT], value: Mapping[str, Any]) -> PartT:
        """The inverse of to_json; further keys are another part's. Raises KeyError for a key that is missing."""
        return cls(**{name: cls._read(name, value[name]) for name in keys_of(cls)})

    def only(self, part: type[PartT]) -> PartT:
        """What of this one is `part`, the smaller class that it extends."""
        return part(**{name: getattr(self, name) for name in keys_of(part)})

    @classmethod
    def _read(cls, name: str, value: Any) -> Any:
        return tuple(value) if isinstance(value, list | tuple) else value


def keys_of(part: type[Part]) -> list[str]:
    return [field.name for field in fields(part)]  # type: ignore[arg-type]  # each part is a dataclass


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.to_json() if isinstance(value, Part | DeclaredSide) else value


@dataclass(frozen=True)
class Platform(Part):
    """Where the sides run, and what makes each a side: all that its interpreter is asked before any operator is."""

    backend: str
    target: str | None
    provider: str
    sides: tuple[DeclaredSide, ...]

    @property
    def is_ab(self) -> bool:
        return len(self.sides) == 2

    @property
    def side_names(self) -> tuple[str, ...]:
        return tuple(side.name for side in self.sides)

    def side(self, name: str) -> DeclaredSide:
        return next(side for side in self.sides if side.name == name)

    def declared_axis(self) -> list[str]:
        """What the sides are declared to differ in: "env:NAME", "python", "provider_dir"."""
        if not self.is_ab:
            return []
        a, b = self.sides
        names = sorted(a.env.keys() | b.env.keys())
        axis = [f"env:{name}" for name in names if a.env.get(name) != b.env.get(name)]
        axis += ["python"] if a.python != b.python else []
        axis += ["provider_dir"] if a.provider_dir != b.provider_dir else []
        return axis

    @classmethod
    def _read(cls, name: str, value: Any) -> Any:
        if name == "sides":
            return tuple(map(DeclaredSide.from_json, value))
        return super()._read(name, value)


@dataclass(frozen=True)
class Subject(Platform):
    """What is compared: the operators, their shapes and types, on which sides."""

    suite_dirs: tuple[str, ...]
    ops: tuple[str, ...]
    op_files: dict[str, str]
    level: str
    dtypes: tuple[str, ...]
    shape_file: str | None

    def of(self, ops: Sequence[str], sides: Sequence[str] | None = None) -> Subject:
        """Of these operators alone, and of these sides; None: of all."""
        files = {op: file for op, file in self.op_files.items() if op in ops}
        kept = self.sides if sides is None else tuple(map(self.side, sides))
        return replace(self, ops=tuple(ops), op_files=files, sides=kept)


@dataclass(frozen=True)
class TunersLeftAlone(Part):
    """Nothing is pinned: autotune is off, or nothing is timed."""

    mode: str = "off"


@dataclass(frozen=True)
class Autotune(Part):
    """How winners are recorded once, or where they were; both sides replay them."""

    record_side: str
    shards: int
    pins_from: str | None
    compile_threads: int | None  # None: this machine's cores, shared by the shards
    compile_pool: str
    early_drop: bool
    mode: str = "replay"


@dataclass(frozen=True)
class Tuning(Part):
    """How tuners find what they launch, and with which caches."""

    autotune: Autotune | TunersLeftAlone
    tuner_cache: str

    @property
    def replays(self) -> bool:
        return isinstance(self.autotune, Autotune)

    @property
    def pins_from(self) -> str | None:
        """The folder of pins that were recorded earlier; None where there are none, or this campaign makes them."""
        return self.autotune.pins_from if isinstance(self.autotune, Autotune) else None

    @property
    def recording(self) -> Autotune | None:
        """How this campaign records; None where it does not: it only compiles, brings its pins, or needs none."""
        return self.autotune if isinstance(self.autotune, Autotune) and self.pins_from is None else None

    @classmethod
    def _read(cls, name: str, value: Any) -> Any:
        if name != "autotune":
            return super()._read(name, value)
        return (TunersLeftAlone if value["mode"] == "off" else Autotune).from_json(value)


@dataclass(frozen=True)
class Duet(Part):
    """What protocol duet measures in each round; `patience` in seconds. The schema explains each of them."""

    superblocks: int
    block_ms: float
    discard: int
    warm_up: int
    seed: int
    patience: float


@dataclass(frozen=True)
class RowTiming(Part):
    """How a process times a row, whether it is compared with another or not. `warmup` and `iter` in milliseconds."""

    mode: str
    warmup: int | None
    iter: int | None
    timer: str
    direct_repeat: int
    measure: bool

    def holds_device(self, backend: str) -> bool:
        """Whether a benchmark needs a device for itself. Compiling alone does not, where none is needed."""
        return self.measure or not get_backend(backend).compiles_without_device


@dataclass(frozen=True)
class Timing(RowTiming):
    """How the rounds of a campaign are timed."""

    protocol: str
    duet: Duet | None  # None: whole replays, one side after the other

    @classmethod
    def _read(cls, name: str, value: Any) -> Any:
        return Duet.from_json(value) if name == "duet" and value is not None else super()._read(name, value)


@dataclass(frozen=True)
class Placebo(Part):
    """Operators that are timed for `rounds` rounds where their code is identical: "identical" means all of them."""

    ops: str | tuple[str, ...]
    rounds: int

    def wants(self, op: str) -> bool:
        return self.ops == "identical" or op in self.ops

    def of(self, ops: Sequence[str]) -> Placebo:
        """Of these operators alone."""
        named = self.ops if isinstance(self.ops, str) else tuple(op for op in self.ops if op in ops)
        return Placebo(named, self.rounds)


@dataclass(frozen=True)
class Judgement(Part):
    """How many rounds an operator gets, and what may be said of them."""

    rounds: int
    stopping: str  # fixed | two-looks
    placebo: Placebo
    alpha: float
    delta: float | None
    policy: str
    allow_no_diff: bool
    allow_caliber_mismatch: bool

    @property
    def looks_twice(self) -> bool:
        return self.stopping == TWO_LOOKS

    def of(self, ops: Sequence[str]) -> Judgement:
        """Of these operators alone."""
        return replace(self, placebo=self.placebo.of(ops))

    @classmethod
    def _read(cls, name: str, value: Any) -> Any:
        return Placebo.from_json(value) if name == "placebo" else super()._read(name, value)


@dataclass(frozen=True)
class Devices(Part):
    """Indices or unique ids; empty where a scheduler assigns one."""

    devices: tuple[int | str, ...]


@dataclass(frozen=True)
class Machine(Devices):
    """What the campaign takes of the machine. `time_limit` of one process, in seconds."""

    time_limit: int
