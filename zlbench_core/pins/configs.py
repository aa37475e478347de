"""A tuner's config as JSON, and back: its own object where one is equal, so that its hook survives."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from zlbench_core.errors import PinsError
from zlbench_core.pins.keys import canonical

ConfigJson = dict[str, Any]
_NOT_OPTIONS = ("kwargs", "pre_hook")


def config_to_json(config: Any) -> ConfigJson:
    """`{"kwargs": {...}, "num_warps": ..., ...}`: every launch option that the config sets, vendors' too."""
    options = {name: canonical(value) for name, value in vars(config).items() if _is_option(name, value)}
    return {"kwargs": canonical(config.kwargs), **options}


def _is_option(name: str, value: Any) -> bool:
    return name not in _NOT_OPTIONS and not name.startswith("_") and value is not None


def launch_values(wanted: ConfigJson) -> dict[str, Any]:
    """The keyword arguments that a launch with this config passes on."""
    return {**wanted["kwargs"], **{name: value for name, value in wanted.items() if name != "kwargs"}}


def describe(wanted: ConfigJson | None) -> str:
    """One line, as the tuners print a config."""
    if wanted is None:
        return "no valid config"
    return ", ".join(f"{name}: {value}" for name, value in launch_values(wanted).items())


def find_equal(configs: Iterable[Any], wanted: ConfigJson) -> Any | None:
    """The first of `configs` that is `wanted`, or None."""
    return next((config for config in configs if config_to_json(config) == wanted), None)


def build_config(configs: list[Any], wanted: ConfigJson, *, needs_hook: bool) -> Any:
    """A new config equal to `wanted`, with the hook that all of `configs` share.

    Raises PinsError when this Triton's Config does not take one of the options, or when the pin was recorded
    with a hook and no single hook is there to attach.
    """
    first = configs[0].pre_hook
    hook = first if all(config.pre_hook == first for config in configs) else None
    if needs_hook and hook is None:
        raise PinsError(
            f"the pin {describe(wanted)} was recorded with a pre_hook; the tuner has none to attach"
        )
    options = {name: value for name, value in wanted.items() if name != "kwargs"}
    return _construct(type(configs[0]), dict(wanted["kwargs"]), options, hook)


def _construct(config_class: type, kwargs: dict[str, Any], options: dict[str, Any], hook: Any) -> Any:
    allowed = inspect.signature(config_class).parameters
    unknown = sorted(set(options) - set(allowed))
    if unknown:
        raise PinsError(f"the pin sets {', '.join(unknown)}; this Triton's Config takes {', '.join(allowed)}")
    return config_class(kwargs, **options, pre_hook=hook)
