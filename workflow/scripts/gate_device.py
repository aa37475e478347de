from pathlib import Path

from zlbench_core.common.step import step
from zlbench_core.judge.gate import gate_device

with step("IR gate", snakemake.log[0]):
    gate_device([Path(path) for path in snakemake.input], Path(snakemake.output.verdicts))
