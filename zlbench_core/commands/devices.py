"""zlbench devices: the devices of a backend."""

from __future__ import annotations

import argparse
from typing import Any

from zlbench_core.commands._common import add_command, print_json


def add(commands: Any) -> None:
    parser = add_command(commands, "devices", run, "List the devices of a backend.")
    parser.add_argument("--backend", default="cuda")


def run(args: argparse.Namespace) -> int:
    from zlbench_core.backends import get_backend

    devices = [vars(device) for device in get_backend(args.backend).enumerate_devices()]
    if args.json:
        print_json(devices)
        return 0
    for device in devices:
        told = " ".join(f"{name}={'unknown' if value is None else value}" for name, value in device.items())
        print(told)
    return 0
