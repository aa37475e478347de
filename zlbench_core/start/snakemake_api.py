"""The few things that the workflow asks of Snakemake beyond its documented surface, in one place."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zlbench_core.campaign.checks import hints, unused_keys
from zlbench_core.campaign.load import load_campaign
from zlbench_core.campaign.model import Campaign
from zlbench_core.campaign.yaml_file import check_repeated_keys
from zlbench_core.common.sealing import carry, seal_config
from zlbench_core.run.cache_folders import remove_dead_folders
from zlbench_core.run.preflight import check_files
from zlbench_core.run.shape_file import shape_notes
from zlbench_core.start.folder_lock import SNAKEMAKE, SNAKEMAKE_LOCKS, hold_folder
from zlbench_core.start.mend import mend
from zlbench_core.start.run_folder import check_writable

# Calls of Snakemake that only look, or only write about what is there; they may stand beside a live run.
_LOOKING = {
    "--archive",
    "--cleanup-metadata",
    "--containerize",
    "--d3dag",
    "--dag",
    "--detailed-summary",
    "--filegraph",
    "--generate-unit-tests",
    "--lint",
    "--list",
    "--list-changes",
    "--list-input-changes",
    "--list-params-changes",
    "--list-rules",
    "--list-target-rules",
    "--print-compilation",
    "--report",
    "--rulegraph",
    "--summary",
    "-D",
    "-S",
    "-l",
    "-lt",
}
_DRY_RUNS = {"--dry-run", "--dryrun"}
_DRY_RUN = re.compile(r"-[a-zA-Z]*n[a-zA-Z]*")


def load_workflow_campaign(config: dict[str, Any], workflow: Any) -> Campaign:
    """The campaign of this Snakemake call: its config files, and what --config laid over them.

    Raises ConfigError; PreflightError for files that are not there; FolderBusyError beside a live run; MachineError for
    a folder that cannot be written.
    """
    files = [str(path) for path in workflow.configfiles or workflow.overwrite_configfiles or ()]
    if workflow.is_main_process:  # its jobs read the same files again
        for file in files:
            check_repeated_keys(file)
    command_line = dict(workflow.config_settings.config or {})
    source = " and ".join([*files, *(["--config"] if command_line else [])])
    campaign = load_campaign(config, overrides=command_line, source=source)
    seal_config(config)
    if workflow.is_main_process:
        _check_run_folder(campaign, sys.argv[1:])
    for side in campaign.subject.sides:
        carry(side.env)
        check_files(campaign, side)
    if workflow.is_main_process:
        _begin(campaign, sys.argv[1:], unused_keys(campaign, config))
    return campaign


def _begin(campaign: Campaign, argv: Sequence[str], unused: Sequence[str] = ()) -> None:
    lines = [*unused, *hints(campaign), *shape_notes(campaign)]
    if not only_looks(argv):
        lines += hold_folder()
        lines += [f"{left} is removed; a killed run left it" for left in remove_dead_folders()]
        # Beside a lock that is not ours to judge nothing is touched: Snakemake will refuse to run.
        if "--unlock" not in argv and not list(SNAKEMAKE_LOCKS.glob("*.lock")):
            lines += mend(campaign, Path("results") / campaign.subject.backend)
    for line in lines:
        print(f"zlbench: {line}", file=sys.stderr)


def _check_run_folder(campaign: Campaign, argv: Sequence[str]) -> None:
    """Raises MachineError where Snakemake, called with these arguments, could not write what it must."""
    if not only_looks(argv):
        check_writable(Path(), [SNAKEMAKE], made=["logs", f"results/{campaign.subject.backend}"])
    elif _is_dry(argv):
        check_writable(Path(), [SNAKEMAKE])


def _is_dry(argv: Sequence[str]) -> bool:
    return bool(_DRY_RUNS & set(argv)) or any(_DRY_RUN.fullmatch(word) for word in argv)


def only_looks(argv: Sequence[str]) -> bool:
    """Whether a Snakemake call with these arguments runs no job and writes no result."""
    words = {word.partition("=")[0] for word in argv}
    return bool(words & _LOOKING) or _is_dry(argv)


def logs_of(workflow: Any) -> str | None:
    """Where Snakemake writes all that it says in this call; None where it writes no log."""
    try:
        return ", ".join(map(str, workflow.logger_manager.get_logfile())) or None
    except AttributeError:
        return None
