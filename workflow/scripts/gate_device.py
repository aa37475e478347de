from pathlib import Path

from zlbench_core.chain.gate import gate_device
from zlbench_core.chain.step import step

with step("IR gate", snakemake.log[0]):
    gate_device([Path(path) for path in snakemake.input], Path(snakemake.output.verdicts))
