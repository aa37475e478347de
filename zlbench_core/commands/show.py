"""zlbench show: the tables of a finished campaign."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from zlbench_core.commands._common import add_command


def add(commands: Any) -> None:
    parser = add_command(commands, "show", run, "Print the verdicts and statuses of a finished campaign.")
    parser.add_argument("folder", type=Path, metavar="DIR", help="results/{backend}")


def run(args: argparse.Namespace) -> int:
    from zlbench_core.chain.show import show_campaign

    text = show_campaign(args.folder)
    if args.json:
        print((args.folder / "verdicts.json").read_text(encoding="utf-8"), end="")
    else:
        print(text, end="")
    return 0
