from pathlib import Path

from zlbench_core.chain.record import record_shard
from zlbench_core.chain.step import step
from zlbench_core.plans import read_plan

with step("record", snakemake.log[0]):
    record_shard(
        read_plan(snakemake.params.plan, snakemake.resources.time_limit),
        snakemake.wildcards.op,
        (int(snakemake.wildcards.shard), snakemake.params.shards),
        snakemake.resources.device,
        Path(snakemake.output[0]).parent,
    )
