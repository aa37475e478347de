"""What a provider is: how an operator becomes a pytest node, an argument list and an environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from zlbench_core.campaign.model import RecordAsked
from zlbench_core.campaign.parts import Platform, Subject
from zlbench_core.campaign.sides import DeclaredSide


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

    def invocation(self, asked: RecordAsked, side: DeclaredSide, op: str) -> Invocation:
        """How `op` is run for this side. Files are named, not required to exist: preflight checks them."""

    def environment(self, platform: Platform, side: DeclaredSide) -> dict[str, str]:
        """The variables that the provider's code needs."""

    def side_problems(self, platform: Platform, side: DeclaredSide) -> list[tuple[str, str]]:
        """(check name, one line) for each thing that this side lacks on this machine, whatever the operators."""

    def problems(self, asked: RecordAsked, side: DeclaredSide) -> list[tuple[str, str]]:
        """(check name, one line) for each thing that the operators lack, once the side lacks nothing."""

    def shape_names(self, subject: Subject) -> frozenset[str] | None:
        """The names that a shape file may hold, each with plain sizes; None: any name, and shapes of any form."""

    def facts(self, side: DeclaredSide, suite_dirs: Sequence[str]) -> dict[str, object]:
        """What the provider's code is: commit and dirty flag, for the identity. Cheap: asked while parsing.

        `suite_dirs` of the subject; none where no operator is asked for.
        """


def suite_argv(asked: RecordAsked) -> list[str]:
    """The options that the builtin suite and the suite it is modelled on share; the runner adds the output."""
    subject, timing = asked.subject, asked.timing
    argv = ["-s", "--level", subject.level, "--mode", timing.mode, "--record", "json"]
    for dtype in subject.dtypes:
        argv += ["--dtypes", dtype]
    if timing.warmup is not None:
        argv += ["--warmup", str(timing.warmup)]
    if timing.iter is not None:
        argv += ["--iter", str(timing.iter)]
    argv += ["--shape_file", subject.shape_file] if subject.shape_file else []
    return argv
