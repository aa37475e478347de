"""What a provider is: how an operator becomes a pytest node, an argument list and an environment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from zlbench_core.campaign.model import Campaign, Side


@dataclass(frozen=True)
class Invocation:
    """One pytest call. `node` is relative to `cwd`, so that two checkouts of one suite have the same node."""

    node: str
    test_file: Path
    cwd: Path
    argv: tuple[str, ...]
    shape_mode: str = "upstream"


class Provider(Protocol):
    name: str

    def invocation(self, campaign: Campaign, side: Side, op: str) -> Invocation:
        """How `op` is run for this side. Files are named, not required to exist: preflight checks them."""

    def environment(self, campaign: Campaign, side: Side) -> dict[str, str]:
        """The variables that the provider's code needs."""

    def problems(self, campaign: Campaign, side: Side) -> list[tuple[str, str]]:
        """(check name, one line) for each thing that is missing on this machine."""

    def shape_names(self, campaign: Campaign) -> frozenset[str] | None:
        """The names that a shape file may hold, each with plain sizes; None: any name, and shapes of any form."""

    def facts(self, campaign: Campaign, side: Side) -> dict[str, object]:
        """What the provider's code is: commit and dirty flag, for the identity. Cheap: asked while parsing."""


def suite_argv(campaign: Campaign) -> list[str]:
    """The options that the builtin suite and the suite it is modelled on share; the runner adds the output."""
    argv = ["-s", "--level", campaign.level, "--mode", campaign.mode, "--record", "json"]
    for dtype in campaign.dtypes:
        argv += ["--dtypes", dtype]
    if campaign.warmup is not None:
        argv += ["--warmup", str(campaign.warmup)]
    if campaign.iter is not None:
        argv += ["--iter", str(campaign.iter)]
    argv += ["--shape_file", campaign.shape_file] if campaign.shape_file else []
    return argv
