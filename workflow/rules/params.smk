# The plan of each rule: what it reruns for (docs/design.md, a campaign in three rules).
from functools import cache

from zlbench_core.run import plans


@cache
def preflight_plan(side):
    return plans.preflight_plan(CAMPAIGN, side)


@cache
def record_plan(op):
    return plans.record_plan(CAMPAIGN, op)


@cache
def round_plan(op):
    return plans.round_plan(CAMPAIGN, op)


@cache
def compare_plan(op):
    return plans.compare_plan(CAMPAIGN, op)


@cache
def look_plan(slot):
    return plans.look_plan(CAMPAIGN, ops_of_slot(slot))


@cache
def summary_plan():
    return plans.summary_plan(CAMPAIGN)


@cache
def gate_token(slot):
    return PLANS.token("rounds", plans.gate_plan(CAMPAIGN, ops_of_slot(slot)))


def get_preflight_plan(wildcards):
    return preflight_plan(wildcards.side)


def get_record_plan(wildcards):
    return record_plan(wildcards.op)


def get_round_plan(wildcards):
    return round_plan(wildcards.op)


def get_compare_plan(wildcards):
    return compare_plan(wildcards.op)


def get_look_plan(wildcards):
    return look_plan(wildcards.slot)


def get_summary_plan(wildcards):
    return summary_plan()


def get_rounds_of_slot(wildcards):
    return gate_token(wildcards.slot)


def params_of(get_plan):
    """The plan for the script, and the digests of its parts for Snakemake, which compares no param that asks for
    `output`."""

    def plan(wildcards, output):
        return get_plan(wildcards)

    def part_of(name):
        def part(wildcards):
            return PLANS.tokens_of(get_plan(wildcards))[name]

        return part

    def sides(wildcards):
        tokens = PLANS.tokens_of(get_plan(wildcards))
        return " ".join(token for name, token in tokens.items() if name.startswith("side_"))

    parts = {name: part_of(name) for name in ("campaign", "machine", "sources")}
    return {"plan": plan, **parts, "sides": sides}
