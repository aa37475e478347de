"""Config -> a typed, validated Campaign. Nothing else reads the configuration."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from zlbench_core.backends import get_backend
from zlbench_core.backends.base import ALL_VISIBILITY_KEYS
from zlbench_core.errors import ConfigError
from zlbench_core.results.tables import resolve_device_arg
from zlbench_core.schemas import validated
from zlbench_core.sealing import sealed_all, unsealed_all
from zlbench_core.verdicts import minimum_rounds

DEFAULT_CONFIG = Path(__file__).parent.parent / "config" / "config.yaml"
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
    protocol: str
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
    def records(self) -> bool:
        """Whether this campaign tunes at all: compile-only campaigns and those that bring pins do not."""
        return self.measure and self.autotune.mode == "replay" and self.autotune.pins_from is None

    @property
    def replays(self) -> bool:
        return self.measure and self.autotune.mode == "replay"

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
        return cls(**{**value, **tuples, "sides": sides, "autotune": Autotune(**value["autotune"])})


def load_campaign(
    config: Mapping[str, Any], *, overrides: Mapping[str, Any] | None = None, source: str = "config"
) -> Campaign:
    """Validate a configuration and fill its defaults.

    `overrides` is what the command line gave: where it names sides, they replace those of the file, since a
    merge would leave a switch of the file's in force that nobody asked for.
    Raises ConfigError, one line.
    """
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
        suite_dirs=tuple(str(Path(folder).absolute()) for folder in values["suite_dirs"]),
        ops=tuple(values["ops"]),
        op_files=values["op_files"],
        level=values["level"],
        mode=values["mode"],
        dtypes=tuple(values["dtypes"]),
        shape_file=_absolute(values["shape_file"]),
        warmup=values["warmup"],
        iter=values["iter"],
        devices=tuple(values["devices"]),
        sides=sides,
        rounds=int(values["rounds"]) if values["measure"] else 1,
        protocol=values["protocol"],
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
    if not campaign.is_ab or not campaign.measure or campaign.rounds >= needed:
        return []
    return [
        f"rounds {campaign.rounds} can claim nothing at alpha {campaign.alpha}; at least {needed} are needed"
    ]


def default_config() -> dict[str, Any]:
    """The embedded default campaign, as config/config.yaml writes it."""
    return yaml.safe_load(DEFAULT_CONFIG.read_text(encoding="utf-8"))


def _accept_command_line_forms(raw: dict[str, Any]) -> None:
    """Snakemake's --config hands over some values as strings (SNAKEMAKE.md (a)); read them as they were meant."""
    for name in ("ops", "dtypes", "suite_dirs"):
        if isinstance(raw.get(name), str):
            raw[name] = [part for part in raw[name].split(",") if part]
    sides = raw.get("sides")
    if isinstance(sides, dict) and sides.get("b") in ("null", "", "none"):
        sides["b"] = None
    _accept_devices(raw)
    nested = [("ir_gate", "allow_no_diff")]
    nested += [("autotune", name) for name in ("shards", "compile_threads", "early_drop")]
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


def _pop_devices(raw: dict[str, Any], name: str) -> list[int | str] | None:
    value = raw.pop(name, None)
    if value is None:
        return None
    items = value if isinstance(value, list) else str(value).split(",")
    return [int(item) if str(item).isdigit() else item for item in items if item != ""]


def _parse_nested(raw: dict[str, Any], section: str, name: str) -> None:
    nested = raw.get(section)
    if isinstance(nested, dict) and isinstance(nested.get(name), str):
        nested[name] = yaml.safe_load(nested[name])


def _sides(values: Mapping[str, Any], source: str) -> tuple[Side, ...]:
    found = []
    for name in ("a", "b"):
        given = values["sides"].get(name)
        if given is None:
            continue
        for variable in given["env"]:
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
                str(Path(python).absolute()),
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
        compile_threads=values["compile_threads"],
        compile_pool=values["compile_pool"],
        early_drop=values["early_drop"],
    )


def _absolute(path: str | None) -> str | None:
    return None if path is None else str(Path(path).expanduser().absolute())


def _check(campaign: Campaign, source: str) -> None:
    if campaign.autotune.record_side not in campaign.side_names:
        raise ConfigError(f"autotune.record_side in {source}: side b is not there; a is allowed")
    unknown = sorted(set(campaign.op_files) - set(campaign.ops))
    if unknown:
        raise ConfigError(f"op_files in {source} names {', '.join(unknown)}, which is not among ops")
    if campaign.tuner_cache.startswith("shared:") and campaign.is_ab and campaign.records:
        raise ConfigError(
            f"tuner_cache {campaign.tuner_cache!r} in {source}: a record on a shared cache inherits winners; "
            "isolated is allowed, or pins from an earlier record (autotune.from)"
        )
