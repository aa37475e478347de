# The plan of each rule: what it reruns for (docs/design.md, a campaign in three rules).
from functools import cache, partial

from zlbench_core.run import plans


@cache
def planned(make, *names):
    """The plan that `make` makes of the campaign and of the wildcards of these names, each made once."""
    made = cache(partial(make, CAMPAIGN))

    def get_plan(wildcards):
        return made(*(getattr(wildcards, name) for name in names))

    return get_plan


def look_plan(campaign, slot):
    return plans.look_plan(campaign, ops_of_slot(slot))


@cache
def gate_token(slot):
    return PLANS.token("rounds", plans.gate_plan(CAMPAIGN, ops_of_slot(slot)))


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
