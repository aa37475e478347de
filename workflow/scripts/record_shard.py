from pathlib import Path

from zlbench_core.common.step import step
from zlbench_core.run.plans import read_plan
from zlbench_core.run.record import record_shard

with step("record", snakemake.log[0]):
    record_shard(
        read_plan(snakemake.params.plan, snakemake.resources.time_limit),
        snakemake.wildcards.op,
        (int(snakemake.wildcards.shard), snakemake.params.shards),
        snakemake.resources.device,
        Path(snakemake.output[0]).parent,
    )
