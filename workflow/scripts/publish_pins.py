from pathlib import Path

from zlbench_core.campaign.model import RecordAsked
from zlbench_core.campaign.plan_text import read_plan
from zlbench_core.common.step import step
from zlbench_core.judge.status import failure_causes
from zlbench_core.run.record import publish_pins

with step("publish pins", snakemake.log[0]):
    publish_pins(
        read_plan(snakemake.params.plan, RecordAsked),
        snakemake.wildcards.op,
        [Path(identity).parent for identity in snakemake.input],
        snakemake.resources.device,
        Path(snakemake.output[0]).parent,
        failure_causes,
        snakemake.resources.time_limit,
    )
