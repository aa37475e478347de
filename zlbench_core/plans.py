"""The plan of each rule: a JSON text with exactly what its result depends on.

It stands in the rule's params, so that Snakemake reruns the rule when, and only when, one of these changes
(SNAKEMAKE.md (c)). Whatever a step does not depend on is set to a neutral value, for the same reason.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from zlbench_core.campaign import Autotune, Campaign
from zlbench_core.errors import ConfigError
from zlbench_core.facts import machine_facts, side_facts
from zlbench_core.files import digest_of
from zlbench_core.source_digests import all_sources

_NO_PINS = Autotune(mode="off", record_side="a", shards=1, pins_from=None)


def preflight_plan(campaign: Campaign, side: str) -> str:
    """Preflight of one side: the machine and the side, and no operator: another list of those checks nothing new."""
    scoped = _neutral(campaign, ops=(), sides=(campaign.side(side),), devices=campaign.devices)
    plain = {
        "dtypes": (),
        "shape_file": None,
        "level": "core",
        "mode": "kernel",
        "warmup": None,
        "iter": None,
        "measure": True,
        "timer": "auto",
        "direct_repeat": 1,
        "tuner_cache": "isolated",
        "suite_dirs": (),
    }
    return _plan(replace(scoped, **plain), [side])


def record_plan(campaign: Campaign, op: str) -> str:
    """A record of one operator: the recording side alone."""
    recorder = campaign.autotune.record_side
    scoped = _neutral(campaign, ops=(op,), sides=(campaign.side(recorder),), autotune=campaign.autotune)
    return _plan(scoped, [recorder])


def round_plan(campaign: Campaign, op: str) -> str:
    """A round of one operator: both sides, since a round is a pair that is measured side by side."""
    autotune = campaign.autotune if campaign.replays else _NO_PINS
    return _plan(_neutral(campaign, ops=(op,), autotune=autotune), campaign.side_names)


def summary_plan(campaign: Campaign) -> str:
    """The summary: the whole campaign and every source."""
    plan = json.loads(_plan(campaign, campaign.side_names))
    return json.dumps({**plan, "sources": all_sources()}, sort_keys=True)


def round_digest(campaign: Campaign, op: str) -> str:
    """The digest of a round's plan, which each of its runs keeps in its identity.

    The zlbench sources are left out: what they are is the identity's own field.
    """
    plan = json.loads(round_plan(campaign, op))
    plan["machine"].pop("zlbench")
    return digest_of(plan)


def gate_plan(campaign: Campaign, ops: Sequence[str]) -> str:
    """The gates of one device: nothing but the rounds' plans."""
    return digest_of([round_plan(campaign, op) for op in ops])


def read_plan(plan: str, time_limit: int | None = None) -> Campaign:
    """The campaign that a plan was made from; the time limit is a resource, not a reason to measure again.

    Raises ConfigError for a text that is no plan, or whose secrets this process was not handed.
    """
    try:
        campaign = Campaign.from_json(json.loads(plan)["campaign"])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"no plan of a campaign: {type(error).__name__}: {error}") from None
    return campaign if time_limit is None else replace(campaign, time_limit=time_limit)


def rounds_after_gate(campaign: Campaign, op: str, gate_file: Path) -> range:
    """The rounds that an operator gets: all, or the first alone where more cannot tell anything."""
    verdict = json.loads(Path(gate_file).read_text(encoding="utf-8"))[op]
    goes_on = verdict == "different" or (verdict == "identical" and campaign.allow_no_diff)
    return range(1, (campaign.rounds if goes_on else 1) + 1)


def _neutral(campaign: Campaign, **kept: Any) -> Campaign:
    neutral: dict[str, Any] = {
        "devices": (),
        "rounds": 1,
        "alpha": 0.05,
        "delta": None,
        "policy": "gate",
        "allow_caliber_mismatch": False,
        "allow_no_diff": False,
        "time_limit": 1,
        "autotune": _NO_PINS,
    }
    ops = kept.get("ops", campaign.ops)
    files = {op: file for op, file in campaign.op_files.items() if op in ops}
    return replace(campaign, **{**neutral, "op_files": files, **kept})


def _plan(campaign: Campaign, sides: Sequence[str]) -> str:
    facts = {name: side_facts(campaign, campaign.side(name)) for name in sides}
    plan = {"campaign": campaign.to_json(), "machine": machine_facts(campaign), "sides": facts}
    return json.dumps(plan, sort_keys=True)
