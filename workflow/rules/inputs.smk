# What each rule reads.
from pathlib import Path

from zlbench_core.campaign import family
from zlbench_core.run import plans


def preflights_of(*sides):
    names = [plans.preflight_name(CAMPAIGN, side) for side in sides]
    return expand("results/{backend}/preflight/{name}.json", backend=CAMPAIGN.subject.backend, name=names)


def get_shard_identities(wildcards):
    return expand(
        "results/{{backend}}/{{op}}/record/shard-{shard}/run_identity.json",
        shard=range(SHARDS),
    )


def get_pins(wildcards):
    if CAMPAIGN.tuning.pins_from:
        return str(Path(CAMPAIGN.tuning.pins_from) / wildcards.op / "meta.json")
    return "results/{backend}/{op}/pins/meta.json" if RECORDING else []


def get_gates_of_slot(wildcards):
    return expand("results/{{backend}}/{op}/ir_gate.json", op=ops_of_slot(wildcards.slot))


def gate_of_slot(slot):
    return checkpoints.gate_device.get(backend=CAMPAIGN.subject.backend, slot=slot).output.verdicts


def rounds_of(op):
    """All rounds, or those that the gate, and then the first of two looks, left to be decided."""
    if not CAMPAIGN.subject.is_ab or not CAMPAIGN.timing.measure:
        return range(1, CAMPAIGN.judgement.rounds + 1)
    if LOOKS_TWICE:
        look = checkpoints.first_look.get(backend=CAMPAIGN.subject.backend, slot=slot_of(op)).output.rounds
        return family.rounds_after_look(look, op)
    return family.rounds_after_gate(CAMPAIGN.judgement, op, gate_of_slot(slot_of(op)))


def rounds_before_look(op):
    """Of a campaign that looks twice. How many operators changed, on all devices, says when it first looks."""
    return family.rounds_after_gate(CAMPAIGN.judgement, op, *map(gate_of_slot, SLOTS))


def identities_of(op, rounds):
    return expand(
        "results/{backend}/{op}/{side}/r{round}/run_identity.json",
        backend=CAMPAIGN.subject.backend,
        op=op,
        round=rounds,
        side=CAMPAIGN.subject.side_names,
    )


# One function per operator: what one device still has to find out keeps no other device waiting.
def identities_for(op):
    def get_identities(wildcards):
        return identities_of(op, rounds_of(op))

    return get_identities


IDENTITIES = {f"identities_of_{op}": identities_for(op) for op in CAMPAIGN.subject.ops}


def get_first_identities(wildcards):
    return [path for op in ops_of_slot(wildcards.slot) for path in identities_of(op, rounds_before_look(op))]


def get_looks(wildcards):
    if not LOOKS_TWICE:
        return []
    return expand(
        "results/{backend}/first_look/device-{slot}.json", backend=CAMPAIGN.subject.backend, slot=SLOTS
    )


def get_device_gates(wildcards):
    return expand("results/{{backend}}/ir_gate/device-{slot}.json", slot=SLOTS)


def get_gates(wildcards):
    if not CAMPAIGN.subject.is_ab:
        return []
    return expand(
        "results/{backend}/{op}/ir_gate.json", backend=CAMPAIGN.subject.backend, op=CAMPAIGN.subject.ops
    )


def get_summary(wildcards):
    return f"results/{CAMPAIGN.subject.backend}/verdicts.json"


def get_report(wildcards):
    return f"results/{CAMPAIGN.subject.backend}/report.html"
