from pathlib import Path

from zlbench_core.campaign.model import Campaign
from zlbench_core.campaign.plan_text import read_plan
from zlbench_core.common.files import write_text
from zlbench_core.common.step import step
from zlbench_core.judge.summary import summarise

with step("summary", snakemake.log[0]):
    campaign = read_plan(snakemake.params.plan, Campaign)
    identities = [path for op in campaign.subject.ops for path in snakemake.input.get(f"identities_of_{op}")]
    summarise(
        campaign,
        [Path(identity).parent for identity in identities],
        [Path(gate) for gate in snakemake.input.gates],
        Path(snakemake.output.verdicts).parent,
        at_once=snakemake.threads,
    )
    for asked, told in zip(snakemake.input.preflight, snakemake.output.preflight, strict=True):
        write_text(told, Path(asked).read_text(encoding="utf-8"))
