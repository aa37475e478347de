"""How many operators a campaign judges, when it looks at them, and how many rounds each gets until then."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from zlbench_core.campaign.looks import Looks, fixed_looks, minimum_rounds, plan_looks
from zlbench_core.campaign.parts import Judgement
from zlbench_core.common.files import read_object
from zlbench_core.errors import ConfigError


def rounds_after_gate(judgement: Judgement, op: str, *gate_files: Path | str) -> range:
    """The rounds that an operator gets before anybody looks: the first alone where more cannot tell anything.

    `gate_files` are those of all devices where the campaign looks twice: how many operators changed decides
    when it looks, and nothing that was timed does. Else the file of the operator's device is enough.
    """
    verdicts = {name: verdict for file in gate_files for name, verdict in _read(file).items()}
    return range(1, rounds_of_verdict(judgement, op, verdicts[op], family_size(verdicts.values())) + 1)


def rounds_of_verdict(judgement: Judgement, op: str, verdict: str, family: int) -> int:
    """The rounds of an operator, by what its gate found, before anybody looks. `family`: see family_size."""
    if verdict == "different" or (verdict == "identical" and judgement.allow_no_diff):
        return campaign_looks(judgement, family).at_least if judgement.looks_twice else judgement.rounds
    return judgement.placebo.rounds if verdict == "identical" and judgement.placebo.wants(op) else 1


def rounds_after_look(look_file: Path | str, op: str) -> range:
    """The rounds that an operator gets after the first look, as the look wrote them down."""
    return range(1, _read(look_file)["rounds"][op] + 1)


def family_size(gate_verdicts: Iterable[str]) -> int:
    """How many operators will be judged: those whose generated code differs. At least 1."""
    return max(1, sum(verdict == "different" for verdict in gate_verdicts))


def read_family(gate_files: Iterable[Path | str]) -> int:
    """The family's size from the gates of all devices."""
    return family_size(verdict for file in gate_files for verdict in _read(file).values())


def campaign_looks(judgement: Judgement, family: int) -> Looks:
    """When this campaign judges an operator; decided by its config and its gates, before anything is timed twice.

    Two looks are planned for the whole family, so that a claim at the first one survives the adjustment.
    """
    if judgement.looks_twice:
        return plan_looks(judgement.alpha, operators=family)
    if judgement.rounds < minimum_rounds(judgement.alpha):
        return plan_looks(judgement.alpha)  # so few rounds can claim nothing at all
    return fixed_looks(judgement.rounds, judgement.alpha)


def _read(path: Path | str) -> dict[str, Any]:
    return read_object(path, ConfigError, what="list of rounds")
