"""zlbench completion: a script by which a shell completes the command."""

from __future__ import annotations

import argparse
from typing import Any

from zlbench_core.commands._common import add_command, print_json
from zlbench_core.errors import ConfigError

SHELLS = ("bash", "zsh", "tcsh")


def add(commands: Any) -> None:
    parser = add_command(commands, "completion", run, "Print a script by which a shell completes zlbench.")
    parser.add_argument("shell", choices=SHELLS)


def run(args: argparse.Namespace) -> int:
    from zlbench_core.commands.cli import build_parser

    try:
        import shtab
    except ImportError:
        raise ConfigError("completion needs shtab: pip install shtab") from None
    script = shtab.complete(build_parser(), args.shell)
    if args.json:
        print_json({"shell": args.shell, "script": script})
    else:
        print(script)
    return 0
