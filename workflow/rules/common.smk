import sys
from pathlib import Path

from zlbench_core import plans
from zlbench_core.chain.failures import failure_lines, known_failures
from zlbench_core.chain.step import error_line
from zlbench_core.errors import ZlbenchError
from zlbench_core.chain.show import show_campaign
from zlbench_core.snakemake_api import load_workflow_campaign, terminal_width

LOGS = Path("logs")
FAILURES_BEFORE = known_failures(LOGS)
try:
    CAMPAIGN = load_workflow_campaign(config, workflow)
except ZlbenchError as error:
    sys.exit(error_line(error))

# Without a list of devices a scheduler hands them out, one per job.
DEVICES = CAMPAIGN.devices or (None,)

for slot in range(len(DEVICES)):
    workflow.register_resource(f"gpu{slot}", 1)


def slot_of(op):
    """Fixed by the operator, so that both sides and all rounds share one device."""
    return CAMPAIGN.ops.index(op) % len(DEVICES)


def claim_by_op(slot):
    def claim(wildcards):
        return int(slot_of(wildcards.op) == slot)

    return claim


def claim_by_shard(slot):
    def claim(wildcards):
        return int(int(wildcards.shard) % len(DEVICES) == slot)

    return claim


OP_TOKENS = {f"gpu{slot}": claim_by_op(slot) for slot in range(len(DEVICES))}
SHARD_TOKENS = {f"gpu{slot}": claim_by_shard(slot) for slot in range(len(DEVICES))}


def device_of_op(wildcards):
    return device_name(slot_of(wildcards.op))


def device_of_shard(wildcards):
    return device_name(int(wildcards.shard) % len(DEVICES))


def device_name(slot):
    return "scheduler" if DEVICES[slot] is None else str(DEVICES[slot])


def get_preflight_plan(wildcards):
    return plans.preflight_plan(CAMPAIGN, wildcards.side)


def get_record_plan(wildcards):
    return plans.record_plan(CAMPAIGN, wildcards.op)


def get_round_plan(wildcards):
    return plans.round_plan(CAMPAIGN, wildcards.op)


def get_gate_plan(wildcards):
    return plans.gate_plan(CAMPAIGN, ops_of_slot(wildcards.slot))


def get_summary_plan(wildcards):
    return plans.summary_plan(CAMPAIGN)


def get_shard_identities(wildcards):
    return expand(
        "results/{{backend}}/{{op}}/record/shard-{shard}/run_identity.json",
        shard=range(CAMPAIGN.autotune.shards),
    )


def get_pins(wildcards):
    if CAMPAIGN.autotune.pins_from:
        return str(Path(CAMPAIGN.autotune.pins_from) / wildcards.op / "meta.json")
    return "results/{backend}/{op}/pins/meta.json" if CAMPAIGN.records else []


def ops_of_slot(slot):
    return [op for op in CAMPAIGN.ops if slot_of(op) == int(slot)]


def get_gates_of_slot(wildcards):
    return expand("results/{{backend}}/{op}/ir_gate.json", op=ops_of_slot(wildcards.slot))


def rounds_of(op):
    """All rounds, or the first alone where the gate found that more cannot tell anything."""
    if not CAMPAIGN.is_ab or not CAMPAIGN.measure:
        return range(1, CAMPAIGN.rounds + 1)
    gate = checkpoints.gate_device.get(backend=CAMPAIGN.backend, slot=slot_of(op)).output.verdicts
    return plans.rounds_after_gate(CAMPAIGN, op, gate)


def get_identities(wildcards):
    return [
        f"results/{CAMPAIGN.backend}/{op}/{side}/r{number}/run_identity.json"
        for op in CAMPAIGN.ops
        for number in rounds_of(op)
        for side in CAMPAIGN.side_names
    ]


def get_gates(wildcards):
    if not CAMPAIGN.is_ab:
        return []
    return expand("results/{backend}/{op}/ir_gate.json", backend=CAMPAIGN.backend, op=CAMPAIGN.ops)


def get_summary(wildcards):
    return f"results/{CAMPAIGN.backend}/verdicts.json"


def print_summary():
    folder = Path("results") / CAMPAIGN.backend
    if (folder / "verdicts.json").exists():
        print(show_campaign(folder, terminal_width()), flush=True)


def report_failures():
    for line in failure_lines(LOGS, FAILURES_BEFORE):
        print(line, file=sys.stderr)
