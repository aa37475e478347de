"""One side of a campaign, as its file declares it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zlbench_core.backends import ALL_VISIBILITY_KEYS
from zlbench_core.campaign.values import absolute, check_variable
from zlbench_core.common.sealing import sealed_all, unsealed_all
from zlbench_core.errors import ConfigError

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
class DeclaredSide:
    """One side of a campaign: what is set for it alone."""

    name: str
    env: dict[str, str]
    python: str
    provider_dir: str | None

    def declared(self) -> dict[str, Any]:
        """What the config says of this side, as it may be written: secrets are digests."""
        return {"env": sealed_all(self.env), "python": self.python, "provider_dir": self.provider_dir}

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, **self.declared()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> DeclaredSide:
        """The inverse of to_json. Raises ConfigError where this process was not handed a secret."""
        return cls(**{**value, "env": unsealed_all(value["env"])})


def sides_of(values: Mapping[str, Any], source: str) -> tuple[DeclaredSide, ...]:
    """The sides of a validated configuration. Raises ConfigError for a reserved variable, and for two equal sides."""
    given = {name: side for name in ("a", "b") if (side := values["sides"].get(name)) is not None}
    found = tuple(_side(name, side, values["flaggems_dir"], source) for name, side in given.items())
    if len(found) == 2 and found[0].declared() == found[1].declared():
        raise ConfigError(
            f"sides in {source}: a and b do not differ in env, python or flaggems_dir, so there is nothing to compare; "
            "change one of them or set b to null"
        )
    return found


def _side(name: str, given: Mapping[str, Any], provider_dir: str | None, source: str) -> DeclaredSide:
    for variable in given["env"]:
        check_variable(variable, f"sides.{name}.env", source)
        if variable in RESERVED_ENV or variable.startswith("ZL_"):
            raise ConfigError(
                f"sides.{name}.env.{variable} in {source}: zlbench sets this variable itself; use the config key"
            )
    # Not resolved: the path of a virtual environment's python is what makes it that environment.
    python = absolute(given["python"] or sys.executable)
    provider_dir = given["flaggems_dir"] or provider_dir
    return DeclaredSide(
        name, dict(sorted(given["env"].items())), python, provider_dir and absolute(provider_dir)
    )
