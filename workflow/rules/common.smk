import atexit
import sys
from functools import cache
from pathlib import Path

from zlbench_core.campaign import family
from zlbench_core.common.step import error_line
from zlbench_core.errors import ZlbenchError
from zlbench_core.judge.show import show_campaign
from zlbench_core.results.console import screen_width
from zlbench_core.run import plans
from zlbench_core.start.failures import failure_lines, known_failures, last_word, told_exit_code
from zlbench_core.start.plan_changes import PlanChanges
from zlbench_core.start.snakemake_api import load_workflow_campaign, logs_of
from zlbench_core.start.snakemake_console import install_console

LOGS = Path("logs").absolute()  # Snakemake leaves its working directory before it ends
FAILURES_BEFORE = known_failures(LOGS)
try:
    CAMPAIGN = load_workflow_campaign(config, workflow)
except ZlbenchError as error:
    sys.exit(error_line(error))

# Without a list of devices a scheduler hands them out, one per job.
DEVICES = CAMPAIGN.machine.devices or (None,)

# A token counts on the whole cluster: where a scheduler bounds the jobs of a device, there is none.
for slot in range(len(CAMPAIGN.machine.devices)):
    workflow.register_resource(f"gpu{slot}", 1)


def slot_of(op):
    """Fixed by the operator, so that both sides and all rounds share one device."""
    return CAMPAIGN.subject.ops.index(op) % len(DEVICES)


def claim_by_op(slot):
    def claim(wildcards):
        return int(slot_of(wildcards.op) == slot)

    return claim


def claim_by_shard(slot):
    def claim(wildcards):
        return int(int(wildcards.shard) % len(DEVICES) == slot)

    return claim


PLANS = PlanChanges(Path("results").absolute() / CAMPAIGN.subject.backend / "plans.json")
SLOTS = sorted({slot_of(op) for op in CAMPAIGN.subject.ops})
LOOKS_TWICE = CAMPAIGN.judgement.looks_twice
TOKENS = range(len(CAMPAIGN.machine.devices))
HOLDS_DEVICE = CAMPAIGN.timing.holds_device(CAMPAIGN.subject.backend)
OP_TOKENS = {f"gpu{slot}": claim_by_op(slot) for slot in TOKENS if HOLDS_DEVICE}
ROUND_THREADS = 1 if HOLDS_DEVICE else len(CAMPAIGN.subject.side_names)
SHARD_TOKENS = {f"gpu{slot}": claim_by_shard(slot) for slot in TOKENS}
# None where nothing is recorded: the rules of a record then stand for nobody.
RECORDING = CAMPAIGN.tuning.recording
RECORDER = [RECORDING.record_side] if RECORDING else []
SHARDS = RECORDING.shards if RECORDING else 0
# What a scheduler asks for: minutes of one benchmark process and of a round of all sides, with time to start.
RUN_MINUTES = CAMPAIGN.machine.time_limit // 60 + 10
ROUND_MINUTES = len(CAMPAIGN.subject.side_names) * RUN_MINUTES


def device_of_op(wildcards):
    return device_name(slot_of(wildcards.op))


def device_of_shard(wildcards):
    return device_name(int(wildcards.shard) % len(DEVICES))


def device_name(slot):
    return "scheduler" if DEVICES[slot] is None else str(DEVICES[slot])


def preflights_of(*sides):
    names = [plans.preflight_name(CAMPAIGN, side) for side in sides]
    return expand("results/{backend}/preflight/{name}.json", backend=CAMPAIGN.subject.backend, name=names)


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


def get_shard_identities(wildcards):
    return expand(
        "results/{{backend}}/{{op}}/record/shard-{shard}/run_identity.json",
        shard=range(SHARDS),
    )


def get_pins(wildcards):
    if CAMPAIGN.tuning.pins_from:
        return str(Path(CAMPAIGN.tuning.pins_from) / wildcards.op / "meta.json")
    return "results/{backend}/{op}/pins/meta.json" if RECORDING else []


def ops_of_slot(slot):
    return [op for op in CAMPAIGN.subject.ops if slot_of(op) == int(slot)]


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


def print_summary():
    folder = Path("results") / CAMPAIGN.subject.backend
    if (folder / "verdicts.json").exists():
        print(show_campaign(folder, screen_width()), flush=True)


def report_failures():
    for line in failure_lines(LOGS, FAILURES_BEFORE):
        print(line, file=sys.stderr)


PROGRESS = {"started": False, "done": False}


def note_start():
    PROGRESS["started"] = True
    PLANS.save()


def note_success():
    PROGRESS["done"] = True


# Snakemake's own last words say that something failed, and onerror is silent at Ctrl-C: what to do is said after them.
def print_last_word():
    unfinished = PROGRESS["started"] and not PROGRESS["done"]
    line = last_word(LOGS, FAILURES_BEFORE, unfinished=unfinished, snakemake_log=logs_of(workflow))
    if line is not None:
        print(line, file=sys.stderr)


def exit_code_told(logs):
    return told_exit_code([LOGS.parent / log for log in logs], FAILURES_BEFORE)


if workflow.is_main_process:
    atexit.register(print_last_word)
    install_console(workflow, exit_code_told, PLANS)
