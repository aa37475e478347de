from zlbench_core.common.step import step
from zlbench_core.judge.accept import require_accepted

with step("require_accepted", snakemake.log[0]):
    require_accepted(snakemake.input[0])
