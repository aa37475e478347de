"""zlbench pins: what is pinned, where two records disagree, and pins as one file for another machine."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zlbench_core.commands._common import add_command, print_json, print_text
from zlbench_core.common.plural import count

if TYPE_CHECKING:
    from zlbench_core.judge.pins.pin_sets import PinSet

ABOUT = "Show pins, compare two records, export pins to one file and import them elsewhere."
EPILOG = """PINS is a pins folder, an operator's folder, results/{backend}, a folder as autotune.from takes it, a
record's folder (record/shard-0), or a FlagGems tuner database (TunedConfig_*.db, also gzipped).
exit codes: 0 done; 1 a mistake in the input (no pins, damaged pins, another backend, a folder that exists);
4 diff: one may not stand for the other; import --strict: another compiler or provider commit
"""
TAKES_PINS = "pins, see zlbench pins --help"


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "pins",
        help=ABOUT,
        description=ABOUT,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    show = add_command(
        actions, "show", run_show, "Show every pinned key with its config, times and near ties."
    )
    show.add_argument("pins", type=Path, metavar="PINS", help=TAKES_PINS)
    diff = add_command(actions, "diff", run_diff, "Show where two records disagree; exit 4 beyond noise.")
    diff.add_argument("first", type=Path, metavar="PINS", help=TAKES_PINS)
    diff.add_argument("second", type=Path, metavar="PINS", help=TAKES_PINS)
    export = add_command(actions, "export", run_export, "Write published pins as one file.")
    export.add_argument("pins", type=Path, metavar="PINS", help=TAKES_PINS)
    export.add_argument("bundle", type=Path, metavar="FILE")
    _add_import(actions)


def _add_import(actions: Any) -> None:
    text = (
        "Unpack exported pins into a new folder for autotune.from, after checking that they fit this machine."
    )
    parser = add_command(actions, "import", run_import, text)
    parser.add_argument("bundle", type=Path, metavar="FILE")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="must not exist")
    parser.add_argument("--backend", required=True, help="where they are to be replayed; another is refused")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that will replay them")
    parser.add_argument("--provider-dir", type=Path, help="also compare the commit of this checkout")
    parser.add_argument("--strict", action="store_true", help="refuse another compiler or provider commit")


def run_show(args: argparse.Namespace) -> int:
    from zlbench_core.judge.pins.pins_show import show_json, show_text
    from zlbench_core.results.console import screen_width

    sets = _load(args.pins)
    if args.json:
        print_json([show_json(pins) for pins in sets.values()])
    else:
        print_text("\n".join(f"{show_text(pins, screen_width())}\n" for pins in sets.values()))
    return 0


def run_diff(args: argparse.Namespace) -> int:
    from zlbench_core.judge.pins.pins_diff import diff_sets, diff_text

    found = diff_sets(_load(args.first), _load(args.second))
    if args.json:
        print_json(found)
    else:
        print_text(f"{diff_text(found)}\n")
    return 0 if found["interchangeable"] else 4


def run_export(args: argparse.Namespace) -> int:
    from zlbench_core.judge.pins.bundle import export_pins

    keys = export_pins(args.pins, args.bundle)
    _report(args, {"bundle": str(args.bundle), "keys": keys}, f"exported {_told(keys)} to {args.bundle}")
    return 0


def run_import(args: argparse.Namespace) -> int:
    from zlbench_core.backends import normalize_backend_name
    from zlbench_core.errors import CaliberMismatch
    from zlbench_core.judge.pins.bundle import import_pins, read_bundle
    from zlbench_core.judge.pins_origin import commit_of, compiler_of, origin_warnings

    operators = read_bundle(args.bundle, normalize_backend_name(args.backend))
    commit = commit_of(args.provider_dir) if args.provider_dir else None
    warnings = origin_warnings(operators, compiler_of(args.python), commit)
    if warnings and args.strict:
        raise CaliberMismatch("!!! [caliber] " + "; ".join(warnings))
    for line in warnings:
        print(f"PINS_WARNING {line}", file=sys.stderr)
    keys = import_pins(operators, args.folder)
    facts = {"folder": str(args.folder), "keys": keys, "warnings": warnings}
    _report(args, facts, f"imported {_told(keys)} to {args.folder}; use it as autotune.from")
    return 0


def _load(path: Path) -> dict[str, PinSet]:
    from zlbench_core.judge.pins.pin_sets import load_pin_sets
    from zlbench_core.judge.pins.tuner_database import is_tuner_database, read_tuner_database

    if is_tuner_database(path):
        pins = read_tuner_database(path)
        return {pins.op: pins}
    return load_pin_sets(path)


def _report(args: argparse.Namespace, facts: dict[str, Any], line: str) -> None:
    if args.json:
        print_json(facts)
    else:
        print_text(f"{line}\n")


def _told(keys: dict[str, int]) -> str:
    return ", ".join(f"{count(found, 'key')} of {op}" for op, found in keys.items())
