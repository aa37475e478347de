"""zlbench verdict: the verdicts again, from the stored rounds alone."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from zlbench_core.commands._common import add_command, print_json, print_text


def add(commands: Any) -> None:
    text = "Recompute every verdict from the stored rounds, and compare with verdicts.json bit for bit."
    parser = add_command(commands, "verdict", run, text)
    parser.add_argument("folder", type=Path, metavar="DIR", help="results/{backend}")


def run(args: argparse.Namespace) -> int:
    from zlbench_core.judge.recompute import recompute

    found = recompute(args.folder)
    if args.json:
        print_json(found.to_json())
    else:
        print_text(found.to_text())
    return 1 if found.differences else 0
