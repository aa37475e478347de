"""The few things that the workflow asks of Snakemake beyond its documented surface, in one place."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Any

from zlbench_core.campaign import Campaign, hints, load_campaign
from zlbench_core.preflight import check_files


def load_workflow_campaign(config: dict[str, Any], workflow: Any) -> Campaign:
    """The campaign of this Snakemake call: its config files, and what --config laid over them.

    Raises ConfigError and, for files that are not there, PreflightError.
    """
    files = [str(path) for path in workflow.configfiles or workflow.overwrite_configfiles or ()]
    command_line = dict(workflow.config_settings.config or {})
    source = " and ".join([*files, *(["--config"] if command_line else [])])
    campaign = load_campaign(config, overrides=command_line, source=source)
    for side in campaign.sides:
        check_files(campaign, side)
    for hint in hints(campaign) if workflow.is_main_process else ():
        print(f"zlbench: {hint}", file=sys.stderr)
    return campaign


def terminal_width() -> int:
    """Columns of the terminal; a log, which has none, gets lines that still read well."""
    return max(shutil.get_terminal_size((140, 40)).columns, 100)


def clock() -> float:
    """Seconds since the epoch, as file times count them."""
    return time.time()
