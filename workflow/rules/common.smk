# The campaign that every other file of the workflow speaks of.
import sys
from pathlib import Path

from zlbench_core.common.step import error_line
from zlbench_core.errors import ZlbenchError
from zlbench_core.start.failures import known_failures
from zlbench_core.start.plan_changes import PlanChanges
from zlbench_core.start.snakemake_api import load_workflow_campaign

LOGS = Path("logs").absolute()  # Snakemake leaves its working directory before it ends
FAILURES_BEFORE = known_failures(LOGS)
try:
    CAMPAIGN = load_workflow_campaign(config, workflow)
except ZlbenchError as error:
    sys.exit(error_line(error))

PLANS = PlanChanges(Path("results").absolute() / CAMPAIGN.backend / "plans.json")
LOOKS_TWICE = CAMPAIGN.looks_twice
# What a scheduler asks for: minutes of one benchmark process and of a round of all sides, with time to start.
RUN_MINUTES = CAMPAIGN.time_limit // 60 + 10
ROUND_MINUTES = len(CAMPAIGN.side_names) * RUN_MINUTES
