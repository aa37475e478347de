"""zlbench identity: what a run really used."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from zlbench_core.commands._common import add_command, print_json, print_text


def add(commands: Any) -> None:
    parser = add_command(
        commands, "identity", run, "Show what a run really used, and check what it vouches for."
    )
    parser.add_argument(
        "run_dir", type=Path, nargs="?", metavar="RUN", help="a run's folder; --json prints every field"
    )
    parser.add_argument(
        "--schema", action="store_true", help="print the JSON schema of the file; no RUN is read"
    )
    parser.set_defaults(complain=parser.error)


def run(args: argparse.Namespace) -> int:
    from zlbench_core.records.identity import load_identity
    from zlbench_core.records.vouched import check_digests

    if args.schema:
        return _print_schema()
    if args.run_dir is None:
        args.complain("the following arguments are required: RUN")
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


def _print_schema() -> int:
    from zlbench_core.commands.identity_schema import identity_schema

    print_json(identity_schema())
    return 0


def _lines(identity: Mapping[str, Any]) -> Iterator[str]:
    from zlbench_core.common.text import printable
    from zlbench_core.records.described import described_fields
    from zlbench_core.records.identity import lookup
    from zlbench_core.records.identity_fields import Identity

    shown = [(one.heading, name) for name, one in described_fields(Identity) if one.heading]
    named = [(head, name, lookup(identity, name)) for head, name in shown]
    known = [(head, name, value) for head, name, value in named if value not in (None, {}, [])]
    width = max((len(name) for _, name, _ in known), default=0)
    before = None
    for head, name, value in known:
        yield f"{head if head != before else '':<12} {name:<{width}}  {printable(_plain(value))}"
        before = head


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={one}" for name, one in value.items())
    return str(value)
