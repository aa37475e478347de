"""Whose runs a campaign is about to replace: those that share a folder share the rounds of an operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zlbench_core.campaign.family import campaign_looks, rounds_of_verdict
from zlbench_core.campaign.model import Campaign
from zlbench_core.common.files import read_object
from zlbench_core.common.plural import count
from zlbench_core.errors import ReadError
from zlbench_core.records.identity import identity_path
from zlbench_core.run.plans import preflight_name, round_digest
from zlbench_core.run.source_digests import measuring_sources

_NAMED = 5


@dataclass(frozen=True)
class Maker:
    """What made a run: the digest of its plan, and that of the zlbench sources; None where it does not say."""

    plan: str | None
    harness: str | None

    @classmethod
    def of(cls, identity: Mapping[str, Any]) -> Maker:
        return cls(identity.get("plan"), identity.get("harness"))


def run_folders(campaign: Campaign, folder: Path) -> list[Path]:
    """Every folder of a round that the campaign may run of the operator in `folder`, whatever gate and looks find."""
    judgement, family = campaign.judgement, len(campaign.subject.ops)
    most = campaign_looks(judgement, family).last if judgement.looks_twice else judgement.rounds
    if campaign.subject.is_ab and campaign.timing.measure and judgement.placebo.wants(folder.name):
        most = max(most, judgement.placebo.rounds)
    names = campaign.subject.side_names
    return [folder / side / f"r{number}" for side in names for number in range(1, most + 1)]


def replaced_lines(campaign: Campaign, root: Path, makers: Mapping[Path, Maker]) -> list[str]:
    """One line on the finished runs below `root` that this campaign measures anew; none where it replaces nothing.

    `makers`: by the folder of each finished run. No file is read but the gate of an operator whose first round stands
    while a later one does not, and the looks of such.
    """
    anew = any(_asks_anew(root / "preflight", campaign, side) for side in campaign.subject.side_names)
    found = {op: runs for op in campaign.subject.ops if (runs := _foreign(campaign, root / op, makers, anew))}
    if not found:
        return []
    amount = count(sum(map(len, found.values())), "finished run")
    at_most = "up to " if any(map(_is_open, found.values())) else ""
    names = [*list(found)[:_NAMED], *([f"{len(found) - _NAMED} more"] if len(found) > _NAMED else [])]
    return [
        f"this campaign replaces {at_most}{amount} that another campaign or another version of zlbench made "
        f"({', '.join(names)}); --directory FOLDER keeps both"
    ]


def _asks_anew(folder: Path, campaign: Campaign, side: str) -> bool:
    """Whether a preflight was made for another campaign alone, as for another device: its rounds are measured again."""
    own = folder / f"{preflight_name(campaign, side)}.json"
    return not own.exists() and any(folder.glob(f"{side}-*.json"))


def _foreign(campaign: Campaign, folder: Path, makers: Mapping[Path, Maker], anew: bool) -> list[Path]:
    mine = Maker(round_digest(campaign, folder.name), measuring_sources())
    made = [run for run in run_folders(campaign, folder) if run in makers]
    runs = [run for run in made if anew or makers[run] != mine]
    if not runs or 1 in map(_number, runs):
        return runs
    wanted = _rounds_decided(campaign, folder)  # what lies beyond them may stay another's
    return [run for run in runs if wanted is None or _number(run) <= wanted]


def _is_open(runs: Sequence[Path]) -> bool:
    """Whether the first round, which decides about the others, is among those to be measured."""
    numbers = set(map(_number, runs))
    return 1 in numbers and len(numbers) > 1


def _number(run: Path) -> int:
    return int(run.name.removeprefix("r"))


def _rounds_decided(campaign: Campaign, folder: Path) -> int | None:
    """How many rounds the gate, or the first look, left to an operator whose first round stands; None: not yet said."""
    if not campaign.subject.is_ab or not campaign.timing.measure:
        return None
    firsts = [identity_path(folder / side / "r1") for side in campaign.subject.side_names]
    if campaign.judgement.looks_twice:
        looks = [
            _younger(look, firsts).get("rounds") for look in folder.parent.glob("first_look/device-*.json")
        ]
        return next((rounds[folder.name] for rounds in looks if rounds and folder.name in rounds), None)
    verdict = _younger(folder / "ir_gate.json", firsts).get("verdict")
    return None if verdict is None else rounds_of_verdict(campaign.judgement, folder.name, verdict, family=1)


def _younger(path: Path, than: Sequence[Path]) -> dict[str, Any]:
    """The JSON object in `path`; empty where it is none, or older than one of the files that it must rest on."""
    try:
        if path.stat().st_mtime_ns < max(file.stat().st_mtime_ns for file in than):
            return {}
        return read_object(path, ReadError, what="gate or look")
    except (OSError, ReadError):
        return {}
