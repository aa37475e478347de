"""The plan of each rule: a JSON text with exactly what its result depends on.

Digests of its parts stand in the rule's params (plan_changes.py), so that Snakemake reruns the rule when, and only
when, one of these changes (docs/snakemake.md, Reruns). It holds the parts of the campaign that the rule names, and no
other; the script of the rule is handed these alone (campaign/model.py, plan_text.py).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from zlbench_core.campaign.model import Asked, Campaign, LookAsked, RecordAsked, RoundAsked
from zlbench_core.campaign.parts import Subject
from zlbench_core.common.files import digest_of
from zlbench_core.run.facts import machine_facts, side_facts
from zlbench_core.run.source_digests import sources_of


def preflight_plan(campaign: Campaign, side: str) -> str:
    """Preflight of one side: the machine and the side, and no operator: another list of those checks nothing new."""
    asked = campaign.check_of(side)
    facts = {side: side_facts(asked.platform, asked.platform.side(side))}
    return _plan(asked, machine_facts(asked.platform.backend, asked.machine.devices), facts)


def preflight_name(campaign: Campaign, side: str) -> str:
    """The side and a digest (16 hex digits) of what the campaign asks of its preflight.

    Campaigns that ask for something else have files of their own: a job that writes a file anew would measure
    everything below it again, whatever the file says (docs/snakemake.md, Reruns).
    """
    return f"{side}-{digest_of(campaign.check_of(side).to_json())}"


def record_plan(campaign: Campaign, op: str) -> str:
    """A record of one operator: the recording side alone. Raises ConfigError where nothing is recorded."""
    return _plan_of(campaign.record_of(op))


def round_plan(asked: RoundAsked, op: str) -> str:
    """A round of one operator: both sides, since a round is a pair that is measured side by side."""
    return _plan_of(asked.round_of(op))


def compare_plan(campaign: Campaign, op: str) -> str:
    """A comparison of generated code: the round that made it, and the sources that compare."""
    return _read_by("compare_ir.py", round_plan(campaign, op))


def summary_plan(campaign: Campaign) -> str:
    """The summary: the whole campaign and the sources that judge."""
    machine = machine_facts(campaign.subject.backend, campaign.machine.devices)
    return _read_by("summarise.py", _plan(campaign, machine, _facts_of(campaign.subject)))


def round_digest(asked: RoundAsked, op: str) -> str:
    """The digest of a round's plan, which each of its runs keeps in its identity.

    The zlbench sources are left out: what they are is the identity's own field.
    """
    plan = json.loads(round_plan(asked, op))
    plan["machine"].pop("zlbench")
    return digest_of(plan)


def gate_plan(campaign: Campaign, ops: Sequence[str]) -> dict[str, str]:
    """The gates of one device: nothing but the digest of the rounds' plan, by operator."""
    return {op: digest_of(round_plan(campaign, op)) for op in ops}


def look_plan(campaign: Campaign, ops: Sequence[str]) -> str:
    """The first look at the operators of one device: their rounds, how these are judged, and the sources that judge."""
    return _read_by("first_look.py", _plan_of(campaign.look_of(ops)))


def _read_by(script: str, plan: str) -> str:
    """The plan with the digest of what reads its runs."""
    return json.dumps({**json.loads(plan), "sources": sources_of(script)}, sort_keys=True)


def _plan_of(asked: RecordAsked | LookAsked) -> str:
    """On whichever device."""
    return _plan(asked, machine_facts(asked.subject.backend), _facts_of(asked.subject))


def _facts_of(subject: Subject) -> dict[str, Any]:
    return {
        side.name: side_facts(subject, side, subject.suite_dirs, subject.shape_file) for side in subject.sides
    }


def _plan(asked: Asked, machine: dict[str, Any], sides: dict[str, Any]) -> str:
    return json.dumps({"campaign": asked.to_json(), "machine": machine, "sides": sides}, sort_keys=True)
