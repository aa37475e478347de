"""Config -> a typed, validated Campaign. Nothing else reads the configuration."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from zlbench_core.backends import get_backend
from zlbench_core.backends.base import ALL_VISIBILITY_KEYS
from zlbench_core.campaign.looks import check_level, minimum_rounds
from zlbench_core.campaign.schema_files import validated
from zlbench_core.campaign.values import check_values, check_variable, resolve_device_arg
from zlbench_core.common.places import DEFAULT_CONFIG
from zlbench_core.common.sealing import sealed_all, unsealed_all
from zlbench_core.errors import ConfigError

TWO_LOOKS = "two-looks"
RESERVED_ENV = (
    *ALL_VISIBILITY_KEYS,
    "REPLAY_FROM",
    "PYTEST_ADDOPTS",
    "PYTEST_PLUGINS",
    "TRITON_CACHE_DIR",
    "TRITON_CACHE_MANAGER",
    "TRITON_REMOTE_CACHE_BACKEND",
    "TRITON_INTERPRET",
    "FLAGGEMS_CACHE_DIR",
    "FLAGGEMS_DB_URL",
)
DUET_MODES = ("kernel", "cudagraph")


@dataclass(frozen=True)
class Side:
    """One side of a campaign: what is set for it alone."""

    name: str
    env: dict[str, str]
    python: str
    provider_dir: str | None

    def declared(self) -> dict[str, Any]:
        """What the config says of this side, as it may be written: secrets are digests."""
        return {"env": sealed_all(self.env), "python": self.python, "provider_dir": self.provider_dir}


@dataclass(frozen=True)
class Autotune:
    mode: str
    record_side: str
    shards: int
    pins_from: str | None
    compile_threads: int | None = None  # None: this machine's cores, shared by the shards
    compile_pool: str = "auto"
    early_drop: bool = True


@dataclass(frozen=True)
class Placebo:
    """Operators that are timed for `rounds` rounds where their code is identical: "identical" means all of them."""

    ops: str | tuple[str, ...]
    rounds: int

    def wants(self, op: str) -> bool:
        return self.ops == "identical" or op in self.ops


@dataclass(frozen=True)
class Duet:
    """What protocol duet measures in each round; `patience` in seconds. The schema explains each of them."""

    superblocks: int
    block_ms: float
    discard: int
    warm_up: int
    seed: int
    patience: float


@dataclass(frozen=True)
class Campaign:
    """A validated campaign. Times in milliseconds (warmup, iter) and seconds (time_limit)."""

    backend: str
    target: str | None
    provider: str
    suite_dirs: tuple[str, ...]
    ops: tuple[str, ...]
    op_files: dict[str, str]
    level: str
    mode: str
    dtypes: tuple[str, ...]
    shape_file: str | None
    warmup: int | None
    iter: int | None
    devices: tuple[int | str, ...]
    sides: tuple[Side, ...]
    rounds: int
    stopping: str  # fixed | two-looks
    placebo: Placebo
    protocol: str
    duet: Duet | None  # None: whole replays, one side after the other
    timer: str
    direct_repeat: int
    autotune: Autotune
    tuner_cache: str
    allow_no_diff: bool
    measure: bool
    time_limit: int
    alpha: float
    delta: float | None
    policy: str
    allow_caliber_mismatch: bool

    @property
    def is_ab(self) -> bool:
        return len(self.sides) == 2

    @property
    def side_names(self) -> tuple[str, ...]:
        return tuple(side.name for side in self.sides)

    @property
    def looks_twice(self) -> bool:
        return self.stopping == TWO_LOOKS and self.is_ab and self.measure

    @property
    def records(self) -> bool:
        """Whether this campaign tunes at all: compile-only campaigns and those that bring pins do not."""
        return self.measure and self.autotune.mode == "replay" and self.autotune.pins_from is None

    @property
    def replays(self) -> bool:
        return self.measure and self.autotune.mode == "replay"

    @property
    def holds_devices(self) -> bool:
        """Whether its benchmarks need a device for themselves. Compiling alone does not, where none is needed."""
        return self.measure or not get_backend(self.backend).compiles_without_device

    def side(self, name: str) -> Side:
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

    def to_json(self) -> dict[str, Any]:
        """The campaign as it may be written: values that look like secrets are digests (sealing.py)."""
        return {**asdict(self), "sides": [{"name": side.name, **side.declared()} for side in self.sides]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Campaign:
        """The inverse of to_json, for the scripts of the workflow. Raises ConfigError where a secret is missing."""
        tuples = {name: tuple(value[name]) for name in ("suite_dirs", "ops", "dtypes", "devices")}
        sides = tuple(Side(**{**side, "env": unsealed_all(side["env"])}) for side in value["sides"])
        duet = None if value["duet"] is None else Duet(**value["duet"])
        nested = {"sides": sides, "autotune": Autotune(**value["autotune"]), "duet": duet}
        return cls(**{**value, **tuples, **nested, "placebo": _placebo(value["placebo"])})


def load_campaign(
    config: Mapping[str, Any], *, overrides: Mapping[str, Any] | None = None, source: str = "config"
) -> Campaign:
    """Validate a configuration and fill its defaults.

    `overrides` is what the command line gave: where it names sides, they replace those of the file, since a
    merge would leave a switch of the file's in force that nobody asked for.
    Raises ConfigError, one line.
    """
    check_values(config, source)
    check_values(dict(overrides or {}), source)
    raw = deepcopy(dict(config))
    if overrides and overrides.get("sides") is not None:
        raw["sides"] = deepcopy(overrides["sides"])
    _accept_command_line_forms(raw)
    values = validated(raw, "config", source)
    backend = get_backend(values["backend"])
    sides = _sides(values, source)
    campaign = Campaign(
        backend=backend.name,
        target=values["target"] if backend.name == "cpu" else None,
        provider=values["provider"],
        suite_dirs=tuple(str(_absolute(folder)) for folder in values["suite_dirs"]),
        ops=tuple(values["ops"]),
        op_files=values["op_files"],
        level=values["level"],
        mode=values["mode"],
        dtypes=tuple(values["dtypes"]),
        shape_file=_absolute(values["shape_file"]),
        warmup=_whole(values["warmup"]),
        iter=_whole(values["iter"]),
        devices=tuple(item if isinstance(item, str) else int(item) for item in values["devices"]),
        sides=sides,
        rounds=int(values["rounds"]) if values["measure"] else 1,
        stopping=values["stopping"],
        placebo=_placebo(values["placebo"]),
        protocol=values["protocol"],
        duet=_duet(values),
        timer=values["timer"],
        direct_repeat=int(values["direct_repeat"]),
        autotune=_autotune(values["autotune"]),
        tuner_cache=values["tuner_cache"],
        allow_no_diff=values["ir_gate"]["allow_no_diff"] or os.environ.get("SWITCH_ALLOW_NO_IR_DIFF") == "1",
        measure=values["measure"],
        time_limit=int(values["time_limit"]),
        alpha=values["alpha"],
        delta=values["delta"],
        policy=values["policy"],
        allow_caliber_mismatch=values["allow_caliber_mismatch"],
    )
    _check(campaign, source)
    return campaign


def hints(campaign: Campaign) -> list[str]:
    """What a campaign cannot tell by its very design, worth a line before it costs device time."""
    needed = minimum_rounds(campaign.alpha)
    enough = campaign.rounds >= needed or campaign.stopping == TWO_LOOKS
    if not campaign.is_ab or not campaign.measure or enough:
        return []
    return [
        f"rounds {campaign.rounds} can claim nothing at alpha {campaign.alpha}; at least {needed} are needed"
    ]


def unused_keys(campaign: Campaign, config: Mapping[str, Any]) -> list[str]:
    """What the configuration sets and this campaign has no use for, worth a line where somebody may count on it."""
    lines = []
    if config.get("duet") and campaign.measure and campaign.duet is None:
        lines.append(f"duet is set, and protocol is {campaign.protocol}: nothing of it is used")
    if campaign.placebo.ops and not (campaign.is_ab and campaign.measure):
        why = "side b is null" if campaign.measure else "measure is false"
        lines.append(f"placebo.ops is set, and {why}: no placebo is timed")
    return lines


def default_config() -> dict[str, Any]:
    """The embedded default campaign, as config/config.yaml writes it."""
    return yaml.safe_load(DEFAULT_CONFIG.read_text(encoding="utf-8"))


def _accept_command_line_forms(raw: dict[str, Any]) -> None:
    """Snakemake's --config hands over some values as strings (docs/snakemake.md); read them as they were meant."""
    for name in ("ops", "dtypes", "suite_dirs"):
        if isinstance(raw.get(name), str):
            raw[name] = [part.strip() for part in raw[name].split(",") if part.strip()]
    sides = raw.get("sides")
    if isinstance(sides, dict) and sides.get("b") in ("null", "", "none"):
        sides["b"] = None
    _accept_devices(raw)
    nested = [("ir_gate", "allow_no_diff"), ("placebo", "rounds")]
    nested += [("autotune", name) for name in ("shards", "compile_threads", "early_drop")]
    nested += [
        ("duet", name) for name in ("superblocks", "block_ms", "discard", "warm_up", "seed", "patience")
    ]
    for section, name in nested:
        _parse_nested(raw, section, name)
    for name in ("measure", "allow_caliber_mismatch"):
        if raw.get(name) in ("true", "false"):
            raw[name] = raw[name] == "true"


def _accept_devices(raw: dict[str, Any]) -> None:
    alias = [value for name in ("gpus", "device") if (value := _pop_devices(raw, name)) is not None]
    try:
        devices = resolve_device_arg(_pop_devices(raw, "devices"), alias[0] if alias else None)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    if devices is not None:
        raw["devices"] = devices


def _pop_devices(raw: dict[str, Any], name: str) -> Any:
    """A list where a text or one index stands; what is neither is for the schema to refuse."""
    value = raw.pop(name, None)
    if isinstance(value, str):
        value = [part for part in value.split(",") if part.strip()]
    elif type(value) is int:
        value = [value]
    return list(map(_device, value)) if isinstance(value, list) else value


def _device(item: Any) -> Any:
    text = item.strip() if isinstance(item, str) else item
    return int(text) if isinstance(text, str) and text.isascii() and text.isdecimal() else text


def _parse_nested(raw: dict[str, Any], section: str, name: str) -> None:
    nested = raw.get(section)
    if isinstance(nested, dict) and isinstance(nested.get(name), str):
        with suppress(yaml.YAMLError):  # the text itself is then refused, with its key
            nested[name] = yaml.safe_load(nested[name])


def _sides(values: Mapping[str, Any], source: str) -> tuple[Side, ...]:
    found = []
    for name in ("a", "b"):
        given = values["sides"].get(name)
        if given is None:
            continue
        for variable in given["env"]:
            check_variable(variable, f"sides.{name}.env", source)
            if variable in RESERVED_ENV or variable.startswith("ZL_"):
                raise ConfigError(
                    f"sides.{name}.env.{variable} in {source}: zlbench sets this variable itself; use the config key"
                )
        provider_dir = given["flaggems_dir"] or values["flaggems_dir"]
        python = given["python"] or sys.executable
        # Not resolved: the path of a virtual environment's python is what makes it that environment.
        found.append(
            Side(
                name,
                dict(sorted(given["env"].items())),
                str(_absolute(python)),
                _absolute(provider_dir),
            )
        )
    if len(found) == 2 and found[0].declared() == found[1].declared():
        raise ConfigError(
            f"sides in {source}: a and b do not differ in env, python or flaggems_dir, so there is nothing to compare; "
            "change one of them or set b to null"
        )
    return tuple(found)


def _autotune(values: Mapping[str, Any]) -> Autotune:
    return Autotune(
        mode=values["mode"],
        record_side=values["record_side"],
        shards=int(values["shards"]),
        pins_from=_absolute(values["from"]),
        compile_threads=_whole(values["compile_threads"]),
        compile_pool=values["compile_pool"],
        early_drop=values["early_drop"],
    )


def _placebo(values: Mapping[str, Any]) -> Placebo:
    ops = values["ops"]
    return Placebo(ops if isinstance(ops, str) else tuple(ops), int(values["rounds"]))


def _duet(values: Mapping[str, Any]) -> Duet | None:
    """None where nothing is timed or the protocol is another."""
    if values["protocol"] != "duet" or not values["measure"]:
        return None
    given = values["duet"]
    counts = {name: int(given[name]) for name in ("superblocks", "discard", "warm_up", "seed")}
    return Duet(block_ms=float(given["block_ms"]), patience=float(given["patience"]), **counts)


def _whole(value: float | None) -> int | None:
    """YAML's 2.0, which counts as an integer, as one."""
    return None if value is None else int(value)


def _absolute(path: str | None) -> str | None:
    return None if path is None else str(Path(path).expanduser().absolute())


def _check(campaign: Campaign, source: str) -> None:
    if campaign.autotune.record_side not in campaign.side_names:
        raise ConfigError(f"autotune.record_side in {source}: side b is not there; a is allowed")
    unknown = sorted(set(campaign.op_files) - set(campaign.ops))
    if unknown:
        raise ConfigError(f"op_files in {source} names {', '.join(unknown)}, which is not among ops")
    check_level(f"alpha in {source}", campaign.alpha)
    _check_placebo(campaign, source)
    if campaign.autotune.pins_from is not None and campaign.autotune.mode == "off":
        raise ConfigError(f"autotune.from in {source}: mode 'off' replays no pins; replay is allowed")
    if campaign.tuner_cache.startswith("shared:") and campaign.is_ab and campaign.records:
        raise ConfigError(
            f"tuner_cache {campaign.tuner_cache!r} in {source}: a record on a shared cache inherits winners; "
            "isolated is allowed, or pins from an earlier record (autotune.from)"
        )
    if campaign.duet is not None:
        _check_duet(campaign, source)


def _check_placebo(campaign: Campaign, source: str) -> None:
    placebo = campaign.placebo
    unknown = [] if isinstance(placebo.ops, str) else sorted(set(placebo.ops) - set(campaign.ops))
    if unknown:
        raise ConfigError(f"placebo.ops in {source} names {', '.join(unknown)}, which is not among ops")
    fewest = minimum_rounds(campaign.alpha)
    if placebo.ops and placebo.rounds < fewest:
        raise ConfigError(
            f"placebo.rounds is {placebo.rounds} in {source}; at alpha {campaign.alpha:g} fewer than {fewest} rounds "
            "can claim nothing, so they would prove nothing"
        )


def _check_duet(campaign: Campaign, source: str) -> None:
    """A duet needs two sides, and a timer of ours that is called row by row and can be cut into blocks."""
    where = f"protocol 'duet' in {source}"
    if not campaign.is_ab:
        raise ConfigError(
            f"{where}: side b is null, and one side has nobody to alternate with; rounds is allowed"
        )
    if campaign.mode not in DUET_MODES:
        raise ConfigError(
            f"{where}: mode {campaign.mode} is timed by the suite itself; {' or '.join(DUET_MODES)} is allowed"
        )
    if campaign.direct_repeat != 1:
        raise ConfigError(
            f"{where}: direct_repeat {campaign.direct_repeat} has no meaning there; 1 is allowed"
        )
    if get_backend(campaign.backend).own_timer is not None:
        raise ConfigError(
            f"{where}: the timer of backend {campaign.backend} cannot be cut into blocks; rounds is allowed"
        )
