"""The command zlbench: what stands outside a campaign."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zlbench_core import __version__
from zlbench_core.chain.step import error_line
from zlbench_core.errors import ConfigError, ZlbenchError

EXAMPLES = """examples:
  zlbench preflight                          is this machine ready for the default campaign?
  zlbench preflight --backend musa           ... for that campaign on Moore Threads devices?
  zlbench devices --backend cuda --json
  zlbench identity results/cpu/mm/a/r1
  zlbench show results/cpu
  zlbench compare results/cpu/mm/a/r1 results/cpu/mm/b/r1

A campaign is run by Snakemake: snakemake --cores 2 --config backend=cpu 'ops=[mm]'
exit codes: 0 done, 1 a mistake in the input, 3 preflight failed, 4 the runs are on different calibers
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; a ZlbenchError is one line on stderr and its exit code."""
    args = build_parser().parse_args(argv)
    try:
        return args.run(args)
    except ZlbenchError as error:
        print(error_line(error), file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        return 1


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="zlbench",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"zlbench {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_preflight(commands)
    _add_devices(commands)
    _add_identity(commands)
    _add_compare(commands)
    _add_show(commands)
    return parser


def _command(commands: Any, name: str, run: Any, text: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=text)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)
    return parser


def _add_preflight(commands: Any) -> None:
    parser = _command(commands, "preflight", run_preflight, "Check that a campaign can run on this machine.")
    parser.add_argument("--configfile", type=Path, help="a campaign file; the embedded default without it")
    parser.add_argument("--backend", help="this backend instead of the campaign's")
    parser.add_argument("--ops", help="these operators instead of the campaign's, comma separated")


def _add_devices(commands: Any) -> None:
    parser = _command(commands, "devices", run_devices, "List the devices of a backend.")
    parser.add_argument("--backend", default="cuda")


def _add_identity(commands: Any) -> None:
    parser = _command(
        commands, "identity", run_identity, "Show what a run really used, and check what it vouches for."
    )
    parser.add_argument("run_dir", type=Path, metavar="RUN")


def _add_compare(commands: Any) -> None:
    parser = _command(
        commands, "compare", run_compare, "Compare two runs that exist, if their calibers allow it."
    )
    parser.add_argument("run_a", type=Path, metavar="RUN_A")
    parser.add_argument("run_b", type=Path, metavar="RUN_B")
    parser.add_argument(
        "--allow-caliber-mismatch",
        action="store_true",
        help="print the numbers all the same, each of them marked",
    )


def _add_show(commands: Any) -> None:
    parser = _command(commands, "show", run_show, "Print the verdicts and statuses of a finished campaign.")
    parser.add_argument("folder", type=Path, metavar="DIR", help="results/{backend}")


def run_preflight(args: argparse.Namespace) -> int:
    from zlbench_core.campaign import default_config, load_campaign
    from zlbench_core.preflight import preflight

    config = _read_config(args.configfile) if args.configfile else default_config()
    overrides = {name: value for name in ("backend", "ops") if (value := getattr(args, name))}
    campaign = load_campaign({**config, **overrides}, source=str(args.configfile or "config/config.yaml"))
    facts = [preflight(campaign, side) for side in campaign.sides]
    if args.json:
        _print_json(facts)
        return 0
    for side in facts:
        devices = (
            ", ".join(f"{device['index']} {device['name']}" for device in side["devices"]) or "by scheduler"
        )
        told = f"python {side['python']}, torch {side['torch']}, triton {side['triton']}"
        print(f"PREFLIGHT_OK side={side['side']} backend={side['backend']}: {told}; devices {devices}")
    return 0


def run_devices(args: argparse.Namespace) -> int:
    from zlbench_core.backends import get_backend

    devices = [vars(device) for device in get_backend(args.backend).enumerate_devices()]
    if args.json:
        _print_json(devices)
        return 0
    for device in devices:
        told = " ".join(f"{name}={'unknown' if value is None else value}" for name, value in device.items())
        print(told)
    return 0


def run_identity(args: argparse.Namespace) -> int:
    from zlbench_core.identity import load_identity
    from zlbench_core.runner import check_digests

    identity = load_identity(args.run_dir)
    broken = check_digests(args.run_dir)
    if args.json:
        _print_json({"identity": identity, "broken": broken})
    else:
        _print_json(identity)
        for name in broken:
            print(f"{args.run_dir / name}: not the file that this identity vouches for", file=sys.stderr)
    return 1 if broken else 0


def run_compare(args: argparse.Namespace) -> int:
    from zlbench_core.chain.compare import compare_runs

    report = compare_runs(args.run_a, args.run_b, release=args.allow_caliber_mismatch)
    if args.json:
        _print_json(report.to_json())
    else:
        print(report.to_text(), end="")
    for line in report.complaints:
        print(f"!!! [caliber] {line}", file=sys.stderr)
    return 4 if report.complaints and not args.allow_caliber_mismatch else 0


def run_show(args: argparse.Namespace) -> int:
    from zlbench_core.chain.show import show_campaign

    text = show_campaign(args.folder)
    if args.json:
        print((args.folder / "verdicts.json").read_text(encoding="utf-8"), end="")
    else:
        print(text, end="")
    return 0


def _read_config(path: Path) -> dict[str, Any]:
    import yaml

    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"campaign file {path} cannot be read: {error.strerror}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"campaign file {path} is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(config, dict):
        raise ConfigError(f"campaign file {path} is not a mapping of keys")
    return config


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, sort_keys=True, default=str))
