from pathlib import Path

from zlbench_core.campaign.model import RoundAsked
from zlbench_core.campaign.plan_text import read_plan
from zlbench_core.common.step import step
from zlbench_core.judge.gate import compare_ir

with step("IR gate", snakemake.log[0]):
    asked = read_plan(snakemake.params.plan, RoundAsked)
    compare_ir(
        asked,
        snakemake.wildcards.op,
        {
            side: Path(path).parent
            for side, path in zip(asked.subject.side_names, snakemake.input, strict=True)
        },
        Path(snakemake.output[0]),
    )
