from pathlib import Path

from zlbench_core.common.step import step
from zlbench_core.report import write_report

with step("report", snakemake.log[0]):
    write_report(Path(snakemake.output.page).parent)
