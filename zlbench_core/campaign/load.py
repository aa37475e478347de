"""Config -> a typed, validated Campaign. Nothing else reads the configuration."""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import yaml

from zlbench_core.backends import get_backend
from zlbench_core.campaign.checks import check_autotune, check_campaign
from zlbench_core.campaign.command_line import accept_command_line_forms
from zlbench_core.campaign.model import Campaign
from zlbench_core.campaign.parts import (
    TWO_LOOKS,
    Autotune,
    Duet,
    Judgement,
    Machine,
    Placebo,
    Subject,
    Timing,
    TunersLeftAlone,
    Tuning,
)
from zlbench_core.campaign.schema_files import validated
from zlbench_core.campaign.sides import DeclaredSide, sides_of
from zlbench_core.campaign.values import absolute, check_values
from zlbench_core.common.places import DEFAULT_CONFIG

Values = Mapping[str, Any]  # of a configuration that fits the schema, with its defaults


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
    accept_command_line_forms(raw)
    values = validated(raw, "config", source)
    subject = _subject(values, sides_of(values, source))
    check_autotune(values["autotune"], subject.side_names, source)
    compared = subject.is_ab and values["measure"]
    machine = Machine(_devices(values["devices"]), int(values["time_limit"]))
    campaign = Campaign(subject, _tuning(values), _timing(values), _judgement(values, compared), machine)
    check_campaign(campaign, source)
    return campaign


def default_config() -> dict[str, Any]:
    """The embedded default campaign, as config/config.yaml writes it."""
    config: dict[str, Any] = yaml.safe_load(DEFAULT_CONFIG.read_text(encoding="utf-8"))
    return config


def _subject(values: Values, sides: tuple[DeclaredSide, ...]) -> Subject:
    backend, shapes = get_backend(values["backend"]), values["shape_file"]
    return Subject(
        backend=backend.name,
        target=values["target"] if backend.name == "cpu" else None,
        provider=values["provider"],
        sides=sides,
        suite_dirs=tuple(map(absolute, values["suite_dirs"])),
        ops=tuple(values["ops"]),
        op_files=values["op_files"],
        level=values["level"],
        dtypes=tuple(values["dtypes"]),
        shape_file=None if shapes is None else absolute(shapes),
    )


def _tuning(values: Values) -> Tuning:
    """Where nothing is pinned, whatever else the section says is kept out of every plan."""
    given, cache = values["autotune"], values["tuner_cache"]
    if not values["measure"] or given["mode"] == "off":
        return Tuning(TunersLeftAlone(), cache)
    folder = given["from"]
    autotune = Autotune(
        record_side=given["record_side"],
        shards=int(given["shards"]),
        pins_from=None if folder is None else absolute(folder),
        compile_threads=_whole(given["compile_threads"]),
        compile_pool=given["compile_pool"],
        early_drop=given["early_drop"],
    )
    return Tuning(autotune, cache)


def _timing(values: Values) -> Timing:
    protocol = values["protocol"] if values["measure"] else "rounds"
    return Timing(
        mode=values["mode"],
        warmup=_whole(values["warmup"]),
        iter=_whole(values["iter"]),
        timer=values["timer"],
        direct_repeat=int(values["direct_repeat"]),
        measure=values["measure"],
        protocol=protocol,
        duet=_duet(values["duet"]) if protocol == "duet" else None,
    )


def _duet(given: Values) -> Duet:
    counts = {name: int(given[name]) for name in ("superblocks", "discard", "warm_up", "seed")}
    return Duet(block_ms=float(given["block_ms"]), patience=float(given["patience"]), **counts)


def _judgement(values: Values, compared: bool) -> Judgement:
    """`compared`: whether two sides are timed, without which nobody looks twice."""
    placebo = values["placebo"]["ops"]
    return Judgement(
        rounds=int(values["rounds"]) if values["measure"] else 1,
        stopping=TWO_LOOKS if compared and values["stopping"] == TWO_LOOKS else "fixed",
        placebo=Placebo(
            placebo if isinstance(placebo, str) else tuple(placebo), int(values["placebo"]["rounds"])
        ),
        alpha=values["alpha"],
        delta=values["delta"],
        policy=values["policy"],
        allow_no_diff=values["ir_gate"]["allow_no_diff"] or os.environ.get("SWITCH_ALLOW_NO_IR_DIFF") == "1",
        allow_caliber_mismatch=values["allow_caliber_mismatch"],
    )


def _devices(given: list[Any]) -> tuple[int | str, ...]:
    return tuple(item if isinstance(item, str) else int(item) for item in given)


def _whole(value: float | None) -> int | None:
    """YAML's 2.0, which counts as an integer, as one."""
    return None if value is None else int(value)
