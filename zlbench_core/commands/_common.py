"""What the commands share: the parser of one command, and how text and JSON are printed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

from zlbench_core.results.console import fitted, screen_width


def add_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], text: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=text)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)
    return parser


def print_text(text: str) -> None:
    """Print lines for a reader: none is wider than the terminal."""
    print(fitted(text, screen_width()), end="")


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, sort_keys=True, default=str))
