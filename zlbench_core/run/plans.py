"""The plan of each rule: a JSON text with exactly what its result depends on.

Digests of its parts stand in the rule's params (plan_changes.py), so that Snakemake reruns the rule when, and only
when, one of these changes (docs/snakemake.md, Reruns). Whatever a step does not depend on is set to a neutral value,
for the same reason.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from zlbench_core.campaign.model import Autotune, Campaign, Placebo
from zlbench_core.common.files import digest_of
from zlbench_core.run.facts import machine_facts, side_facts
from zlbench_core.run.source_digests import sources_of

_NO_PINS = Autotune(mode="off", record_side="a", shards=1, pins_from=None)


def preflight_plan(campaign: Campaign, side: str) -> str:
    """Preflight of one side: the machine and the side, and no operator: another list of those checks nothing new."""
    return _plan(_scope_of_preflight(campaign, side), [side])


def preflight_name(campaign: Campaign, side: str) -> str:
    """The side and a digest (16 hex digits) of what the campaign asks of its preflight.

    Campaigns that ask for something else have files of their own: a job that writes a file anew would measure
    everything below it again, whatever the file says (docs/snakemake.md, Reruns).
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


def compare_plan(campaign: Campaign, op: str) -> str:
    """A comparison of generated code: the round that made it, and the sources that compare."""
    return _read_by("compare_ir.py", round_plan(campaign, op))


def summary_plan(campaign: Campaign) -> str:
    """The summary: the whole campaign and the sources that judge."""
    return _read_by("summarise.py", _plan(campaign, campaign.side_names))


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


def look_plan(campaign: Campaign, ops: Sequence[str]) -> str:
    """The first look at the operators of one device: what the summary of these alone would depend on."""
    files = {op: file for op, file in campaign.op_files.items() if op in ops}
    placebo = campaign.placebo
    named = placebo.ops if isinstance(placebo.ops, str) else tuple(op for op in placebo.ops if op in ops)
    scoped = replace(campaign, ops=tuple(ops), op_files=files, placebo=replace(placebo, ops=named))
    return _read_by("first_look.py", _plan(scoped, campaign.side_names))


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


def _read_by(script: str, plan: str) -> str:
    """The plan with the digest of what reads its runs."""
    return json.dumps({**json.loads(plan), "sources": sources_of(script)}, sort_keys=True)


def _plan(campaign: Campaign, sides: Sequence[str]) -> str:
    facts = {name: side_facts(campaign, campaign.side(name)) for name in sides}
    plan = {"campaign": campaign.to_json(), "machine": machine_facts(campaign), "sides": facts}
    return json.dumps(plan, sort_keys=True)
