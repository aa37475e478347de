"""zlbench report: the report of a finished campaign, made again."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from zlbench_core.commands._common import add_command, print_json, print_text


def add(commands: Any) -> None:
    parser = add_command(
        commands, "report", run, "Write report.html, summary.md and parquet tables of a finished campaign."
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="results/{backend}")


def run(args: argparse.Namespace) -> int:
    from zlbench_core.common.progress import track
    from zlbench_core.judge.receipt import untracked
    from zlbench_core.report import write_report

    files, stale = write_report(args.folder, untracked if args.json else track)
    if args.json:
        print_json({"files": list(map(str, files)), "stale": stale})
    else:
        print_text("".join(f"{line}\n" for line in (*(f"STALE {reason}" for reason in stale), *files)))
    return 1 if stale else 0
