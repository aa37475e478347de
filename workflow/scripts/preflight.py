from zlbench_core.campaign.model import CheckAsked
from zlbench_core.campaign.plan_text import read_plan
from zlbench_core.common.files import write_json
from zlbench_core.common.step import step
from zlbench_core.run.preflight import preflight

with step("preflight", snakemake.log[0]):
    write_json(snakemake.output[0], preflight(read_plan(snakemake.params.plan, CheckAsked)))
