"""zlbench identity: what a run really used."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from zlbench_core.commands._common import add_command, print_json, print_text

# What decides whether two runs may be compared, in the order in which one asks.
SHOWN = (
    ("run", ("op", "side", "round", "status", "failure", "pytest_exit", "started", "ended")),
    ("caliber", ("backend", "device", "timer", "bench_level", "shape_mode", "tuner_cache", "direct_repeat")),
    ("tuning", ("autotune_mode", "replay.hits", "replay.launches", "replay.fallbacks")),
    ("device", ("device_uuid", "driver")),
    ("environment", ("environment.python", "environment.torch", "environment.triton")),
    ("environment", ("environment.precision", "environment.variables")),
    ("provider", ("provider", "provider_commit", "provider_dirty", "test_node")),
    ("measurement", ("measurement.mode", "measurement.flush", "measurement.rows", "measurement.fallbacks")),
)


def add(commands: Any) -> None:
    parser = add_command(
        commands, "identity", run, "Show what a run really used, and check what it vouches for."
    )
    parser.add_argument("run_dir", type=Path, metavar="RUN", help="a run's folder; --json prints every field")


def run(args: argparse.Namespace) -> int:
    from zlbench_core.records.identity import load_identity
    from zlbench_core.records.vouched import check_digests

    identity = load_identity(args.run_dir)
    broken = check_digests(args.run_dir)
    if args.json:
        print_json({"identity": identity, "broken": broken})
        return 1 if broken else 0
    told = f"vouches for {len(identity.get('digests') or ())} files, {len(broken)} of them changed"
    print_text("".join(f"{line}\n" for line in (*_lines(identity), told)))
    for name in broken:
        print(f"{args.run_dir / name}: not the file that this identity vouches for", file=sys.stderr)
    return 1 if broken else 0


def _lines(identity: Mapping[str, Any]) -> Iterator[str]:
    from zlbench_core.common.text import printable

    named = [(head, name, _lookup(identity, name)) for head, names in SHOWN for name in names]
    known = [(head, name, value) for head, name, value in named if value not in (None, {}, [])]
    width = max((len(name) for _, name, _ in known), default=0)
    before = None
    for head, name, value in known:
        yield f"{head if head != before else '':<12} {name:<{width}}  {printable(_plain(value))}"
        before = head


def _lookup(value: Any, name: str) -> Any:
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={one}" for name, one in value.items())
    return str(value)
