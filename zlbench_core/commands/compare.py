"""zlbench compare: two runs that exist, if their calibers allow it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from zlbench_core.commands._common import add_command, print_json


def add(commands: Any) -> None:
    parser = add_command(commands, "compare", run, "Compare two runs that exist, if their calibers allow it.")
    parser.add_argument("run_a", type=Path, metavar="RUN_A")
    parser.add_argument("run_b", type=Path, metavar="RUN_B")
    parser.add_argument(
        "--allow-caliber-mismatch",
        action="store_true",
        help="print the numbers all the same, each of them marked",
    )


def run(args: argparse.Namespace) -> int:
    from zlbench_core.chain.compare import compare_runs

    report = compare_runs(args.run_a, args.run_b, release=args.allow_caliber_mismatch)
    if args.json:
        print_json(report.to_json())
    else:
        print(report.to_text(), end="")
    for line in report.complaints:
        print(f"!!! [caliber] {line}", file=sys.stderr)
    return 4 if report.complaints and not args.allow_caliber_mismatch else 0
