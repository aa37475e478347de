"""The plan of each rule: a JSON text with exactly what its result depends on.

Digests of its parts stand in the rule's params (plan_changes.py), so that Snakemake reruns the rule when, and only
when, one of these changes (SNAKEMAKE.md (c)). Whatever a step does not depend on is set to a neutral value, for the
same reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from zlbench_core.campaign.model import Autotune, Campaign, Placebo
from zlbench_core.common.files import digest_of, read_object
from zlbench_core.errors import ConfigError
from zlbench_core.run.facts import machine_facts, side_facts
from zlbench_core.run.source_digests import all_sources
from zlbench_core.verdicts import Looks, fixed_looks, minimum_rounds, plan_looks

_NO_PINS = Autotune(mode="off", record_side="a", shards=1, pins_from=None)


def preflight_plan(campaign: Campaign, side: str) -> str:
    """Preflight of one side: the machine and the side, and no operator: another list of those checks nothing new."""
    return _plan(_scope_of_preflight(campaign, side), [side])


def preflight_name(campaign: Campaign, side: str) -> str:
    """The side and a digest (16 hex digits) of what the campaign asks of its preflight.

    Campaigns that ask for something else have files of their own: a job that writes a file anew would measure
    everything below it again, whatever the file says (SNAKEMAKE.md finding 9).
    """
    return f"{side}-{digest_of(_scope_of_preflight(campaign, side).to_json())}"


def _scope_of_preflight(campaign: Campaign, side: str) -> Campaign:
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
    return replace(scoped, **plain)


def record_plan(campaign: Campaign, op: str) -> str:
    """A record of one operator: the recording side alone."""
    recorder = campaign.autotune.record_side
    scoped = _neutral(campaign, ops=(op,), sides=(campaign.side(recorder),), autotune=campaign.autotune)
    return _plan(scoped, [recorder])


def round_plan(campaign: Campaign, op: str) -> str:
    """A round of one operator: both sides, since a round is a pair that is measured side by side."""
    autotune = campaign.autotune if campaign.replays else _NO_PINS
    measured = {"protocol": campaign.protocol, "duet": campaign.duet} if campaign.measure else {}
    return _plan(_neutral(campaign, ops=(op,), autotune=autotune, **measured), campaign.side_names)


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


def gate_plan(campaign: Campaign, ops: Sequence[str]) -> dict[str, str]:
    """The gates of one device: nothing but the digest of the rounds' plan, by operator."""
    return {op: digest_of(round_plan(campaign, op)) for op in ops}


def read_plan(plan: str, time_limit: int | None = None) -> Campaign:
    """The campaign that a plan was made from; the time limit is a resource, not a reason to measure again.

    Raises ConfigError for a text that is no plan, or whose secrets this process was not handed.
    """
    try:
        campaign = Campaign.from_json(json.loads(plan)["campaign"])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"no plan of a campaign: {type(error).__name__}: {error}") from None
    return campaign if time_limit is None else replace(campaign, time_limit=time_limit)


def look_plan(campaign: Campaign, ops: Sequence[str]) -> str:
    """The first look at the operators of one device: what the summary of these alone would depend on."""
    files = {op: file for op, file in campaign.op_files.items() if op in ops}
    placebo = campaign.placebo
    named = placebo.ops if isinstance(placebo.ops, str) else tuple(op for op in placebo.ops if op in ops)
    scoped = replace(campaign, ops=tuple(ops), op_files=files, placebo=replace(placebo, ops=named))
    return summary_plan(scoped)


def rounds_after_gate(campaign: Campaign, op: str, *gate_files: Path | str) -> range:
    """The rounds that an operator gets before anybody looks: the first alone where more cannot tell anything.

    `gate_files` are those of all devices where the campaign looks twice: how many operators changed decides
    when it looks, and nothing that was timed does. Else the file of the operator's device is enough.
    """
    verdicts = {name: verdict for file in gate_files for name, verdict in _read(file).items()}
    return range(1, rounds_of_verdict(campaign, op, verdicts[op], family_size(verdicts.values())) + 1)


def rounds_of_verdict(campaign: Campaign, op: str, verdict: str, family: int) -> int:
    """The rounds of an operator, by what its gate found, before anybody looks. `family`: see family_size."""
    if verdict == "different" or (verdict == "identical" and campaign.allow_no_diff):
        return campaign_looks(campaign, family).at_least if campaign.looks_twice else campaign.rounds
    return campaign.placebo.rounds if verdict == "identical" and campaign.placebo.wants(op) else 1


def rounds_after_look(look_file: Path | str, op: str) -> range:
    """The rounds that an operator gets after the first look, as the look wrote them down."""
    return range(1, _read(look_file)["rounds"][op] + 1)


def family_size(gate_verdicts: Iterable[str]) -> int:
    """How many operators will be judged: those whose generated code differs. At least 1."""
    return max(1, sum(verdict == "different" for verdict in gate_verdicts))


def read_family(gate_files: Iterable[Path | str]) -> int:
    """The family's size from the gates of all devices."""
    return family_size(verdict for file in gate_files for verdict in _read(file).values())


def campaign_looks(campaign: Campaign, family: int) -> Looks:
    """When this campaign judges an operator; decided by its config and its gates, before anything is timed twice.

    Two looks are planned for the whole family, so that a claim at the first one survives the adjustment.
    """
    if campaign.looks_twice:
        return plan_looks(campaign.alpha, operators=family)
    if campaign.rounds < minimum_rounds(campaign.alpha):
        return plan_looks(campaign.alpha)  # so few rounds can claim nothing at all
    return fixed_looks(campaign.rounds, campaign.alpha)


def _read(path: Path | str) -> dict[str, Any]:
    return read_object(path, ConfigError, what="list of rounds")


def _neutral(campaign: Campaign, **kept: Any) -> Campaign:
    neutral: dict[str, Any] = {
        "devices": (),
        "rounds": 1,
        "protocol": "rounds",
        "duet": None,
        "alpha": 0.05,
        "delta": None,
        "policy": "gate",
        "stopping": "fixed",
        "placebo": Placebo(ops=(), rounds=1),
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
