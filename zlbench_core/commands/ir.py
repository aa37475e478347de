"""zlbench ir: what two runs compiled differently, and what a run's kernels cost before they run."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from zlbench_core.commands._common import add_command, print_json, print_text
from zlbench_core.common.step import error_line
from zlbench_core.errors import ZlbenchError

SAME, DIFFERENT, TROUBLE = 0, 1, 2  # as diff(1) has them
_COST_COLUMNS = (
    "kernel",
    "variant",
    "registers",
    "spills",
    "shared_bytes",
    "local_bytes",
    "code_bytes",
    "instructions",
    "classes",
    "settings",
)


def add(commands: Any) -> None:
    text = "Compare the generated code of two runs, or show its static cost."
    actions = commands.add_parser("ir", help=text, description=text).add_subparsers(
        required=True, metavar="ACTION"
    )
    _add_diff(actions)
    _add_cost(actions)


def _add_diff(actions: Any) -> None:
    text = "Show the first stage at which each kernel variant differs. Exit code 0: same, 1: different, 2: not known."
    parser = add_command(actions, "diff", run_diff, text)
    parser.add_argument("run_a", type=Path, metavar="RUN_A", help="a run's folder, or its ir/")
    parser.add_argument("run_b", type=Path, metavar="RUN_B")
    parser.add_argument("--kernel", metavar="K", help="this kernel alone")
    parser.add_argument("--stage", metavar="S", help="this stage instead of the first that differs")
    parser.add_argument("--brief", action="store_true", help="stages and costs, no diff")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")


def _add_cost(actions: Any) -> None:
    text = "Registers, spills, memory and instructions of every kernel variant of a run."
    parser = add_command(actions, "cost", run_cost, text)
    parser.add_argument("run_dir", type=Path, metavar="RUN", help="a run's folder, or its ir/")
    parser.add_argument("--kernel", metavar="K", help="this kernel alone")


def run_diff(args: argparse.Namespace) -> int:
    from zlbench_core.judge.ir.diff import diff_archives
    from zlbench_core.judge.ir.text import diff_text
    from zlbench_core.results.console import screen_width

    try:
        found = diff_archives(args.run_a, args.run_b, args.kernel, args.stage)
    except ZlbenchError as error:
        # Not 1, which says that the code differs.
        print(error_line(error), file=sys.stderr)
        return TROUBLE
    if args.json:
        print_json(found.to_json())
    else:
        print(diff_text(found, _in_colour(args.color), args.brief, screen_width()), end="")
    return DIFFERENT if found.variants else SAME


def run_cost(args: argparse.Namespace) -> int:
    from zlbench_core.judge.ir.cost_table import cost_lines, gaps, read_costs
    from zlbench_core.results.console import screen_width, text_table

    costs = read_costs(args.run_dir, args.kernel)
    if args.json:
        print_json(costs)
        return 0
    table = text_table(cost_lines(costs), _COST_COLUMNS, screen_width())
    print_text(table + "".join(f"not known: {reason}\n" for reason in gaps(costs)))
    return 0


def _in_colour(asked: str) -> bool:
    if asked != "auto":
        return asked == "always"
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
