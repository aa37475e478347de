rule record_shard:
    input:
        preflights_of(*RECORDER),
    output:
        "results/{backend}/{op}/record/shard-{shard}/run_identity.json",
    log:
        "logs/{backend}/{op}/record_{shard}.log",
    resources:
        **SHARD_TOKENS,
        device=device_of_shard,
        gpu=1,
        mem_mb=8000,
        runtime=RUN_MINUTES,
        time_limit=CAMPAIGN.machine.time_limit,
    params:
        **params_of(planned(plans.record_plan, "op")),
        shards=SHARDS,
    message:
        "Record the autotune winners of {wildcards.op}, shard {wildcards.shard}."
    script:
        "../scripts/record_shard.py"


# Holds a device, since a discarded record is swept again, serially, here.
rule publish_pins:
    input:
        get_shard_identities,
    output:
        "results/{backend}/{op}/pins/meta.json",
    log:
        "logs/{backend}/{op}/publish_pins.log",
    resources:
        **OP_TOKENS,
        device=device_of_op,
        gpu=1,
        mem_mb=8000,
        runtime=RUN_MINUTES,
        time_limit=CAMPAIGN.machine.time_limit,
    params:
        **params_of(planned(plans.record_plan, "op")),
    message:
        "Merge the records of {wildcards.op} into pins, or discard them."
    script:
        "../scripts/publish_pins.py"
