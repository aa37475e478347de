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

PLANS = PlanChanges(Path("results").absolute() / CAMPAIGN.subject.backend / "plans.json")
LOOKS_TWICE = CAMPAIGN.judgement.looks_twice
# None where nothing is recorded: the rules of a record then stand for nobody.
RECORDING = CAMPAIGN.tuning.recording
RECORDER = [RECORDING.record_side] if RECORDING else []
SHARDS = RECORDING.shards if RECORDING else 0
# What a scheduler asks for: minutes of one benchmark process and of a round of all sides, with time to start.
RUN_MINUTES = CAMPAIGN.machine.time_limit // 60 + 10
ROUND_MINUTES = len(CAMPAIGN.subject.side_names) * RUN_MINUTES
