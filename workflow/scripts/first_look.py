from pathlib import Path

from zlbench_core.common.step import step
from zlbench_core.judge.look import first_look
from zlbench_core.run.plans import read_family, read_plan

with step("first look", snakemake.log[0]):
    first_look(
        read_plan(snakemake.params.plan),
        [Path(identity).parent for identity in snakemake.input.identities],
        [Path(gate) for gate in snakemake.input.gates],
        read_family(snakemake.input.device_gates),
        Path(snakemake.output.rounds),
    )
