"""zlbench devices: the devices of this machine."""

from __future__ import annotations

import argparse
from typing import Any

from zlbench_core.commands._common import add_command, print_json, print_text

COLUMNS = ("backend", "index", "name", "memory_mib", "used_mib", "driver", "uuid", "note")


def add(commands: Any) -> None:
    parser = add_command(
        commands, "devices", run, "List the devices of this machine, of all backends or of one."
    )
    parser.add_argument("--backend", help="this backend only; it must then be able to list its devices")


def run(args: argparse.Namespace) -> int:
    from zlbench_core.backends import known_backends, normalize_backend_name

    names = [normalize_backend_name(args.backend)] if args.backend else known_backends()
    found = {name: _devices(name, must_list=bool(args.backend)) for name in names}
    if args.json:
        print_json(found)
    else:
        print_text(_text(found))
    return 0


def _devices(name: str, *, must_list: bool) -> dict[str, Any]:
    """What a backend lists, or why it cannot: never "none" where it is not known."""
    from zlbench_core.backends import get_backend
    from zlbench_core.errors import DeviceError

    try:
        return {"devices": [vars(device) for device in get_backend(name).enumerate_devices()], "reason": None}
    except DeviceError as error:
        if must_list:
            raise
        return {"devices": None, "reason": str(error)}


def _text(found: dict[str, dict[str, Any]]) -> str:
    from zlbench_core.results.console import screen_width, text_table

    lines = [
        {"backend": name, **device, "note": device["note"] or (device["parent"] and f"of {device['parent']}")}
        for name, told in found.items()
        for device in told["devices"] or ()
    ]
    reasons = [f"{told['reason']}\n" for told in found.values() if told["reason"]]
    return text_table(lines, COLUMNS, screen_width()) + "".join(reasons)
