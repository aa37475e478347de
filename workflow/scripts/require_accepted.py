from zlbench_core.chain.accept import require_accepted
from zlbench_core.chain.step import step

with step("require_accepted", snakemake.log[0]):
    require_accepted(snakemake.input[0])
