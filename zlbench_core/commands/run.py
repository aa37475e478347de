"""zlbench run: a campaign, by the workflow that comes with this package."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

from zlbench_core.errors import ConfigError, MachineError

RERUN_TRIGGERS = ("mtime", "params", "input", "software-env")
SUFFIXES = (".yaml", ".yml", ".json")
# Options of Snakemake beside which a number of cores is not ours to choose: they set it, or where the jobs run.
BOUNDS = ("--cores", "-c", "--jobs", "-j", "--executor", "-e", "--profile", "--workflow-profile")


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "run",
        help="Run a campaign.",
        description="Run a campaign in this folder, by Snakemake: results/ and logs/ are written here. What is "
        "finished is not measured again, and a run that was stopped goes on with the same command. "
        "Paths in a campaign count from the folder of the run.",
    )
    parser.add_argument(
        "words",
        nargs="*",
        metavar="CAMPAIGN.yaml | TARGET",
        help="a campaign file, the default campaign without it; then what to make of it: all (as without), "
        "require_accepted (ends with 1 when a comparison was refused), or files below results/",
    )
    parser.add_argument("--cores", metavar="N", help="cores in use at once; all that are there without it")
    parser.add_argument(
        "-d", "--directory", type=Path, metavar="DIR", help="run in this folder, made if need be"
    )
    parser.set_defaults(run=run, options=[])
    parser.usage = "zlbench run [--cores N] [-d DIR] [CAMPAIGN.yaml] [TARGET ...] [-- OPTIONS OF SNAKEMAKE]"


def run(args: argparse.Namespace) -> int:
    command = snakemake_command(args.words, args.options, args.cores, args.directory)
    sys.stdout.flush()
    os.execv(sys.executable, command)  # its exit status and its signals are those of this process


def snakemake_command(
    words: Sequence[str], options: Sequence[str], cores: str | None, directory: Path | None
) -> list[str]:
    """The command line of Snakemake. Raises ConfigError for a campaign file, MachineError for a folder."""
    from zlbench_core.common.places import SNAKEFILE

    campaign, targets = split_words(words)
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(SNAKEFILE)]
    command += ["--configfile", str(checked(campaign))] if campaign else []
    command += ["--directory", str(made(directory))] if directory else []
    # Files of the workflow that are newer or changed are no reason: digests in the params say what measures.
    command += ["--rerun-triggers", *RERUN_TRIGGERS]
    if cores or not _bounded(options):
        command += ["--cores", cores or "all"]
    return [*command, *targets, *options]  # what is said twice counts as it is said last


def split_words(words: Sequence[str]) -> tuple[Path | None, list[str]]:
    """The campaign file, if the first word is one, and the targets. Raises ConfigError for a second file."""
    first, targets = list(words[:1]), list(words[1:])
    if first and not _is_campaign(first[0]):
        first, targets = [], [*first, *targets]
    more = [word for word in targets if _is_campaign(word)]
    if more:
        raise ConfigError(f"{more[0]} is no target; one campaign file is allowed, before all targets")
    return (Path(first[0]) if first else None), targets


def _is_campaign(word: str) -> bool:
    """A file that is none of a campaign's own, there or not."""
    return not _is_result(word) and (word.lower().endswith(SUFFIXES) or os.path.isfile(word))


def _is_result(word: str) -> bool:
    return PurePath(os.path.normpath(word)).parts[:1] in (("results",), ("logs",))


def checked(campaign: Path) -> Path:
    """Its absolute path, since --directory moves. Raises ConfigError for what is no mapping in YAML."""
    from zlbench_core.campaign.yaml_file import read_campaign_file

    read_campaign_file(campaign)
    return campaign.absolute()


def made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MachineError(f"run folder {folder} cannot be made: {error.strerror}") from None
    return folder


def _bounded(options: Sequence[str]) -> bool:
    named = any(word.partition("=")[0] in BOUNDS or re.match("-[cj][0-9a]", word) for word in options)
    return named or "SNAKEMAKE_PROFILE" in os.environ
