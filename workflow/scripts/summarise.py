from pathlib import Path

from zlbench_core.chain.step import step
from zlbench_core.chain.summary import summarise
from zlbench_core.plans import read_plan

with step("summary", snakemake.log[0]):
    summarise(
        read_plan(snakemake.params.plan),
        [Path(identity).parent for identity in snakemake.input.identities],
        [Path(gate) for gate in snakemake.input.gates],
        Path(snakemake.output.verdicts).parent,
    )
