# Which device a job gets. A token bounds the jobs of a device on every machine, and no flag can lose it
# (docs/snakemake.md, Devices).
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


def ops_of_slot(slot):
    return [op for op in CAMPAIGN.subject.ops if slot_of(op) == int(slot)]


SLOTS = sorted({slot_of(op) for op in CAMPAIGN.subject.ops})
TOKENS = range(len(CAMPAIGN.machine.devices))
HOLDS_DEVICE = CAMPAIGN.timing.holds_device(CAMPAIGN.subject.backend)
OP_TOKENS = {f"gpu{slot}": claim_by_op(slot) for slot in TOKENS if HOLDS_DEVICE}
SHARD_TOKENS = {f"gpu{slot}": claim_by_shard(slot) for slot in TOKENS}
ROUND_THREADS = 1 if HOLDS_DEVICE else len(CAMPAIGN.subject.side_names)


def device_of_op(wildcards):
    return device_name(slot_of(wildcards.op))


def device_of_shard(wildcards):
    return device_name(int(wildcards.shard) % len(DEVICES))


def device_name(slot):
    return "scheduler" if DEVICES[slot] is None else str(DEVICES[slot])
