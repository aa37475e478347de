"""The providers by name."""

from __future__ import annotations

from zlbench_core.providers.base import Invocation, Provider
from zlbench_core.providers.builtin import BuiltinProvider
from zlbench_core.providers.flaggems import FlagGemsProvider

__all__ = ["Invocation", "Provider", "get_provider", "known_providers"]

_PROVIDERS: dict[str, Provider] = {
    provider.name: provider for provider in (BuiltinProvider(), FlagGemsProvider())
}


def known_providers() -> tuple[str, ...]:
    return tuple(_PROVIDERS)


def get_provider(name: str) -> Provider:
    """The provider of a validated campaign: the config schema allows no other names than these."""
    return _PROVIDERS[name]
