from pathlib import Path

from zlbench_core.campaign.model import RoundAsked
from zlbench_core.campaign.plan_text import read_plan
from zlbench_core.common.step import step
from zlbench_core.judge.shapes import write_shapes
from zlbench_core.run.replay import replay_round

with step("replay", snakemake.log[0]):
    asked = read_plan(snakemake.params.plan, RoundAsked)
    pins = snakemake.input.get("pins")
    run_dirs = {
        side: Path(path).parent for side, path in zip(asked.subject.side_names, snakemake.output, strict=True)
    }
    replay_round(
        asked,
        snakemake.wildcards.op,
        int(snakemake.wildcards.round),
        snakemake.resources.device,
        run_dirs,
        Path(pins).parent if pins else None,
        snakemake.resources.time_limit,
        at_once=snakemake.threads,
    )
    for run_dir in run_dirs.values():
        write_shapes(run_dir)
