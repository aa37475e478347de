from pathlib import Path

from zlbench_core.campaign.model import RecordAsked
from zlbench_core.campaign.plan_text import read_plan
from zlbench_core.common.step import step
from zlbench_core.judge.shapes import write_shapes
from zlbench_core.run.record import record_shard

with step("record", snakemake.log[0]):
    run_dir = Path(snakemake.output[0]).parent
    record_shard(
        read_plan(snakemake.params.plan, RecordAsked),
        snakemake.wildcards.op,
        (int(snakemake.wildcards.shard), snakemake.params.shards),
        snakemake.resources.device,
        run_dir,
        snakemake.resources.time_limit,
    )
    write_shapes(run_dir)
