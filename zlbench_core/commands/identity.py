"""zlbench identity: what a run really used."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from zlbench_core.commands._common import add_command, print_json


def add(commands: Any) -> None:
    parser = add_command(
        commands, "identity", run, "Show what a run really used, and check what it vouches for."
    )
    parser.add_argument("run_dir", type=Path, metavar="RUN")


def run(args: argparse.Namespace) -> int:
    from zlbench_core.identity import load_identity
    from zlbench_core.runner import check_digests

    identity = load_identity(args.run_dir)
    broken = check_digests(args.run_dir)
    if args.json:
        print_json({"identity": identity, "broken": broken})
    else:
        print_json(identity)
        for name in broken:
            print(f"{args.run_dir / name}: not the file that this identity vouches for", file=sys.stderr)
    return 1 if broken else 0
