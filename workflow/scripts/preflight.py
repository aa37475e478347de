from zlbench_core.campaign.plan_text import read_plan
from zlbench_core.common.files import write_json
from zlbench_core.common.step import step
from zlbench_core.run.preflight import preflight

with step("preflight", snakemake.log[0]):
    campaign = read_plan(snakemake.params.plan)
    write_json(snakemake.output[0], preflight(campaign, campaign.side(snakemake.wildcards.side)))
