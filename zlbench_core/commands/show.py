"""zlbench show: the tables of a finished campaign."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from zlbench_core.commands._common import add_command, print_json, print_text


def add(commands: Any) -> None:
    parser = add_command(
        commands,
        "show",
        run,
        "Print the verdicts and statuses of a finished campaign. Ends with 1 when what they rest on has changed.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="results/{backend}")
    parser.add_argument("--markdown", action="store_true", help="for a comment on a pull request")


def run(args: argparse.Namespace) -> int:
    from zlbench_core.common.progress import track
    from zlbench_core.judge.receipt import stale_lines, untracked
    from zlbench_core.judge.show import read_verdicts, show_campaign
    from zlbench_core.results.console import screen_width

    # First, since a folder without a summary is one mistake and not a stale summary too.
    text = _markdown(args.folder) if args.markdown else show_campaign(args.folder, screen_width())
    stale = stale_lines(args.folder, untracked if args.json else track)
    told = "".join(f"STALE {line}\n" for line in stale)
    if not (args.json or args.markdown):
        print_text(told + text)
        return 1 if stale else 0
    # A JSON or a Markdown stays one to its first character.
    print(told, end="", file=sys.stderr)
    if args.json:
        print_json({**read_verdicts(args.folder / "verdicts.json"), "stale": stale})
    else:
        print(text, end="")
    return 1 if stale else 0


def _markdown(folder: Path) -> str:
    from zlbench_core.report.markdown import markdown
    from zlbench_core.report.source import read_results

    return markdown(read_results(folder))
