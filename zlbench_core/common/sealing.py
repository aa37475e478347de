"""Values that must not be written down: a digest stands in every file for what looks like a secret.

A digest still tells two values apart, which is all that a comparison needs. The value itself travels in an
environment variable of the Snakemake process, so that no plan, header, receipt or metadata of Snakemake holds it.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from typing import Any

from zlbench_core.errors import ConfigError

SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH", "COOKIE")
CARRIER = "ZL_SEALED_"  # side_environment drops ZL_* variables, so that no benchmark inherits a carrier
MARK = "sha256:"
_USER_IN_URL = re.compile(r"://[^/\s@]+@")


def looks_secret(name: str, value: str) -> bool:
    """Whether a variable's name, or a user and password inside its value, say that it is nobody's business."""
    return any(word in name.upper() for word in SECRET_WORDS) or bool(_USER_IN_URL.search(value))


def sealed(name: str, value: str) -> str:
    """`value` as it may be written: itself, or "sha256:<64 hex digits>" where it looks like a secret."""
    return MARK + _digest(value) if looks_secret(name, value) else value


def sealed_all(env: Mapping[str, str]) -> dict[str, str]:
    return {name: sealed(name, value) for name, value in env.items()}


def carry(env: Mapping[str, str]) -> None:
    """Hand the sealed values of `env` to the processes that this one starts."""
    for name, value in env.items():
        if looks_secret(name, value):
            os.environ[CARRIER + _digest(value)] = value


def unsealed_all(env: Mapping[str, str]) -> dict[str, str]:
    """The inverse of sealed_all, in a process that inherited the values. Raises ConfigError where it did not."""
    return {name: _unsealed(name, value) for name, value in env.items()}


def seal_config(config: dict[str, Any]) -> None:
    """Seal the sides' variables in Snakemake's own configuration, which its job files hold as a pickle."""
    sides = config.get("sides")
    if not isinstance(sides, Mapping):
        return
    config["sides"] = {
        name: {**side, "env": sealed_all(side["env"])} if _has_env(side) else side
        for name, side in sides.items()
    }


def _has_env(side: Any) -> bool:
    return isinstance(side, Mapping) and isinstance(side.get("env"), Mapping)


def _unsealed(name: str, value: str) -> str:
    if not value.startswith(MARK):
        return value
    carried = os.environ.get(CARRIER + value.removeprefix(MARK))
    if carried is None:
        raise ConfigError(
            f"the value of {name} is sealed and was not handed to this process; start the campaign with Snakemake"
        )
    return carried


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode(errors="surrogateescape")).hexdigest()
