"""What Snakemake's --config hands over as text (docs/snakemake.md, Values of --config), read as it was meant."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import yaml

from zlbench_core.campaign.values import resolve_device_arg
from zlbench_core.errors import ConfigError

_LISTS = ("ops", "dtypes", "suite_dirs")
_TRUTHS = ("measure", "allow_caliber_mismatch")
_NESTED = {
    "ir_gate": ("allow_no_diff",),
    "placebo": ("rounds",),
    "autotune": ("shards", "compile_threads", "early_drop"),
    "duet": ("superblocks", "block_ms", "discard", "warm_up", "seed", "patience"),
}


def accept_command_line_forms(raw: dict[str, Any]) -> None:
    """Change `raw` in place. Raises ConfigError where devices are given under two names."""
    for name in _LISTS:
        if isinstance(raw.get(name), str):
            raw[name] = [part.strip() for part in raw[name].split(",") if part.strip()]
    sides = raw.get("sides")
    if isinstance(sides, dict) and sides.get("b") in ("null", "", "none"):
        sides["b"] = None
    _accept_devices(raw)
    for section, names in _NESTED.items():
        _parse_nested(raw.get(section), names)
    for name in _TRUTHS:
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


def _parse_nested(nested: Any, names: tuple[str, ...]) -> None:
    for name in names if isinstance(nested, dict) else ():
        if isinstance(nested.get(name), str):
            with suppress(yaml.YAMLError):  # the text itself is then refused, with its key
                nested[name] = yaml.safe_load(nested[name])
