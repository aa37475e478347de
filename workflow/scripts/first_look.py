from pathlib import Path

from zlbench_core.campaign.family import read_family
from zlbench_core.campaign.model import LookAsked
from zlbench_core.campaign.plan_text import read_plan
from zlbench_core.common.step import step
from zlbench_core.judge.look import first_look

with step("first look", snakemake.log[0]):
    first_look(
        read_plan(snakemake.params.plan, LookAsked),
        [Path(identity).parent for identity in snakemake.input.identities],
        [Path(gate) for gate in snakemake.input.gates],
        read_family(snakemake.input.device_gates),
        Path(snakemake.output.rounds),
    )
