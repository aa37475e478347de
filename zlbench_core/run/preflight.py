"""Preflight: is everything there that this side of the campaign needs? Each check has a name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from zlbench_core.backends import get_backend
from zlbench_core.backends.base import DeviceInfo
from zlbench_core.campaign.model import CheckAsked, RoundAsked
from zlbench_core.campaign.parts import Devices, Platform
from zlbench_core.campaign.sides import DeclaredSide
from zlbench_core.errors import DeviceError, PinsError, PreflightError
from zlbench_core.providers import get_provider
from zlbench_core.run.environment import side_environment
from zlbench_core.run.needed_packages import DISTRIBUTIONS, missing_here, missing_line
from zlbench_core.run.plugin_plan import plan_plugins
from zlbench_core.run.shape_file import check_shape_file

SCHEMA_VERSION = 1
PROBE = Path(__file__).with_name("probe.py")
PROBE_MARKER = "ZLBENCH_PROBE "
OLDEST_PYTHON = (3, 10)  # of a side: what runs in a benchmark process is written for it


def check_files(asked: RoundAsked, side: DeclaredSide) -> None:
    """The checks that only look at files: quick enough for every Snakemake start. Raises PreflightError."""
    _raise_first(get_provider(asked.subject.provider).side_problems(asked.subject, side))
    _raise_first(get_provider(asked.subject.provider).problems(asked, side))
    check_shape_file(asked.subject)
    check_replay_from(asked)
    check_python(side)
    check_packages(asked.subject, side)


def preflight(asked: CheckAsked) -> dict[str, Any]:
    """The facts of one side, stable while the machine is unchanged. Raises PreflightError at the first failure."""
    platform, [side] = asked.platform, asked.platform.sides
    _raise_first(get_provider(platform.provider).side_problems(platform, side))
    check_python(side)
    check_packages(platform, side)
    devices = check_devices(platform, asked.machine)
    probe = check_plugins(platform, side, devices)
    return {
        "schema_version": SCHEMA_VERSION,
        "status": "complete",
        "side": side.name,
        "backend": platform.backend,
        "target": platform.target,
        "devices": [vars(device) for device in devices],
        "driver": get_backend(platform.backend).driver_version(),
        "executable": side.python,
        "python": probe["python"],
        "torch": probe["versions"]["torch"],
        "triton": probe["versions"]["triton"],
        "pytest": probe["versions"]["pytest"],
        "provider": platform.provider,
        **get_provider(platform.provider).facts(side, ()),
    }


def _raise_first(problems: list[tuple[str, str]]) -> None:
    for name, message in problems:
        raise PreflightError(name, message)


def check_replay_from(asked: RoundAsked) -> None:
    root = asked.tuning.pins_from
    if root is None:
        return
    from zlbench_core.pins.pins import check_backend, load_pins

    try:
        for op in asked.subject.ops:
            folder = Path(root) / op
            check_backend(folder, load_pins(folder).meta, asked.subject.backend)
    except PinsError as error:
        raise PreflightError("replay_from", f"autotune.from: {error}") from None


def check_python(side: DeclaredSide) -> None:
    if not os.path.isfile(side.python):
        raise PreflightError("python", f"sides.{side.name}.python {side.python} is not a file")
    if not os.access(side.python, os.X_OK):
        raise PreflightError("python", f"sides.{side.name}.python {side.python} may not be executed")


def check_packages(platform: Platform, side: DeclaredSide) -> None:
    """Of this very interpreter, which need not be started to be asked; check_plugins asks every other one."""
    if side.python != sys.executable:
        return
    lacking = missing_here(side_environment(platform, side, None))
    if lacking:
        raise PreflightError("packages", missing_line(side.python, side.name, lacking, platform.backend))


def check_devices(platform: Platform, machine: Devices) -> list[DeviceInfo]:
    """The campaign's devices, resolved; all usable ones where a scheduler will choose."""
    backend = get_backend(platform.backend)
    if not machine.devices:
        return []
    devices = [backend.resolve_device(device) for device in machine.devices]
    for device in devices:
        if not device.usable:
            raise DeviceError(f"device {device.index} is not usable as a whole: {device.note}")
    return devices


def check_plugins(platform: Platform, side: DeclaredSide, devices: list[DeviceInfo]) -> dict[str, Any]:
    """Ask the side's own interpreter, in the environment of a run, what it has."""
    facts = _run_probe(platform, side, devices)
    check_version(side, facts["python"])
    lacking = [DISTRIBUTIONS[name] for name in DISTRIBUTIONS if facts["versions"].get(name) is None]
    if lacking:
        raise PreflightError("packages", missing_line(side.python, side.name, lacking, platform.backend))
    for name, error in facts["plugin_errors"].items():
        raise PreflightError("plugins", f"{side.python} (side {side.name}) cannot import {name}: {error}")
    seen = facts["visible_devices"]
    if devices and seen is not None and seen != 1:
        told = "leaves no device" if seen == 0 else f"leaves {seen} devices"
        raise DeviceError(
            f"making only device {devices[0].index} visible {told} to torch on side {side.name}"
        )
    return facts


def check_version(side: DeclaredSide, version: str) -> None:
    if tuple(map(int, version.split(".")[:2])) < OLDEST_PYTHON:
        oldest = ".".join(map(str, OLDEST_PYTHON))
        raise PreflightError(
            "python", f"{side.python} (side {side.name}) is Python {version}; a side needs {oldest} or newer"
        )


def _run_probe(platform: Platform, side: DeclaredSide, devices: list[DeviceInfo]) -> dict[str, Any]:
    backend = get_backend(platform.backend)
    env = side_environment(platform, side, devices[0] if devices else None)
    command = [side.python, str(PROBE), backend.torch_device, *plan_plugins(platform.backend, extra=None)]
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PreflightError("python", f"{side.python} (side {side.name}) does not start: {error}") from None
    for line in done.stdout.splitlines():
        if line.startswith(PROBE_MARKER):
            return json.loads(line.removeprefix(PROBE_MARKER))
    tail = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    raise PreflightError("python", f"{side.python} (side {side.name}) does not answer: {tail}")
