"""zlbench compare: two runs that exist, if their calibers allow it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from zlbench_core.commands._common import add_command, print_json, print_text


def add(commands: Any) -> None:
    parser = add_command(commands, "compare", run, "Compare two runs that exist, if their calibers allow it.")
    parser.add_argument("run_a", type=Path, metavar="RUN_A")
    parser.add_argument("run_b", type=Path, metavar="RUN_B")
    parser.add_argument(
        "--allow-caliber-mismatch",
        action="store_true",
        help="print the numbers all the same, each of them marked",
    )
    parser.add_argument(
        "--axis",
        action="append",
        default=[],
        metavar="AXIS",
        help="what the runs differ in: env:NAME, python or provider_dir; else what both were declared to",
    )


def run(args: argparse.Namespace) -> int:
    from zlbench_core.judge.compare import compare_runs
    from zlbench_core.results.console import screen_width

    report = compare_runs(args.run_a, args.run_b, release=args.allow_caliber_mismatch, axis=args.axis)
    if args.json:
        print_json(report.to_json())
    else:
        print_text(report.to_text(screen_width()))
    for line in report.complaints:
        print(f"!!! [caliber] {line}", file=sys.stderr)
    released = args.allow_caliber_mismatch and report.rows
    return 4 if report.complaints and not released else 0
