"""What no schema says of a campaign: keys that contradict each other, and those that this one has no use for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zlbench_core.backends import get_backend
from zlbench_core.campaign.looks import check_level, minimum_rounds
from zlbench_core.campaign.model import Campaign
from zlbench_core.errors import ConfigError

DUET_MODES = ("kernel", "cudagraph")


def check_campaign(campaign: Campaign, source: str) -> None:
    """Raises ConfigError, one line, for keys that contradict each other."""
    subject, tuning = campaign.subject, campaign.tuning
    _check_names("op_files", subject.op_files, campaign, source)
    check_level(f"alpha in {source}", campaign.judgement.alpha)
    _check_placebo(campaign, source)
    if tuning.tuner_cache.startswith("shared:") and subject.is_ab and tuning.recording:
        raise ConfigError(
            f"tuner_cache {tuning.tuner_cache!r} in {source}: a record on a shared cache inherits winners; "
            "isolated is allowed, or pins from an earlier record (autotune.from)"
        )
    if campaign.timing.duet is not None:
        _check_duet(campaign, source)


def check_autotune(autotune: Mapping[str, Any], sides: tuple[str, ...], source: str) -> None:
    """Of the validated section `autotune`, since a campaign that is off keeps nothing of it. Raises ConfigError."""
    if autotune["record_side"] not in sides:
        raise ConfigError(f"autotune.record_side in {source}: side b is not there; a is allowed")
    if autotune["from"] is not None and autotune["mode"] == "off":
        raise ConfigError(f"autotune.from in {source}: mode 'off' replays no pins; replay is allowed")


def hints(campaign: Campaign) -> list[str]:
    """What a campaign cannot tell by its very design, worth a line before it costs device time."""
    judgement = campaign.judgement
    needed = minimum_rounds(judgement.alpha)
    enough = judgement.rounds >= needed or judgement.looks_twice
    if not campaign.subject.is_ab or not campaign.timing.measure or enough:
        return []
    return [
        f"rounds {judgement.rounds} can claim nothing at alpha {judgement.alpha}; at least {needed} are needed"
    ]


def unused_keys(campaign: Campaign, config: Mapping[str, Any]) -> list[str]:
    """What the configuration sets and this campaign has no use for, worth a line where somebody may count on it."""
    lines, timing = [], campaign.timing
    if config.get("duet") and timing.measure and timing.duet is None:
        lines.append(f"duet is set, and protocol is {timing.protocol}: nothing of it is used")
    if campaign.judgement.placebo.ops and not (campaign.subject.is_ab and timing.measure):
        why = "side b is null" if timing.measure else "measure is false"
        lines.append(f"placebo.ops is set, and {why}: no placebo is timed")
    return lines


def _check_names(
    key: str, names: Mapping[str, str] | tuple[str, ...], campaign: Campaign, source: str
) -> None:
    unknown = sorted(set(names) - set(campaign.subject.ops))
    if unknown:
        raise ConfigError(f"{key} in {source} names {', '.join(unknown)}, which is not among ops")


def _check_placebo(campaign: Campaign, source: str) -> None:
    placebo, alpha = campaign.judgement.placebo, campaign.judgement.alpha
    if not isinstance(placebo.ops, str):
        _check_names("placebo.ops", placebo.ops, campaign, source)
    fewest = minimum_rounds(alpha)
    if placebo.ops and placebo.rounds < fewest:
        raise ConfigError(
            f"placebo.rounds is {placebo.rounds} in {source}; at alpha {alpha:g} fewer than {fewest} rounds "
            "can claim nothing, so they would prove nothing"
        )


def _check_duet(campaign: Campaign, source: str) -> None:
    """A duet needs two sides, and a timer of ours that is called row by row and can be cut into blocks."""
    where, timing, backend = f"protocol 'duet' in {source}", campaign.timing, campaign.subject.backend
    if not campaign.subject.is_ab:
        raise ConfigError(
            f"{where}: side b is null, and one side has nobody to alternate with; rounds is allowed"
        )
    if timing.mode not in DUET_MODES:
        raise ConfigError(
            f"{where}: mode {timing.mode} is timed by the suite itself; {' or '.join(DUET_MODES)} is allowed"
        )
    if timing.direct_repeat != 1:
        raise ConfigError(f"{where}: direct_repeat {timing.direct_repeat} has no meaning there; 1 is allowed")
    if get_backend(backend).own_timer is not None:
        raise ConfigError(
            f"{where}: the timer of backend {backend} cannot be cut into blocks; rounds is allowed"
        )
