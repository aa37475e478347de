from pathlib import Path

from zlbench_core.common.step import step
from zlbench_core.judge.gate import compare_ir
from zlbench_core.run.plans import read_plan

with step("IR gate", snakemake.log[0]):
    campaign = read_plan(snakemake.params.plan)
    compare_ir(
        campaign,
        snakemake.wildcards.op,
        {side: Path(path).parent for side, path in zip(campaign.side_names, snakemake.input, strict=True)},
        Path(snakemake.output[0]),
    )
