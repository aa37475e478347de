"""Leases: no two benchmark processes of this machine ever use one device at once."""

from __future__ import annotations

import fcntl
import json
import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from zlbench_core.backends import get_backend
from zlbench_core.backends.base import DeviceInfo
from zlbench_core.errors import DeviceBusyError

POLL_SECONDS = 1.0
SCHEDULER = "scheduler"  # the device of a job whose scheduler exposes one


@dataclass(frozen=True)
class Lease:
    """A device that this process holds, or None where a scheduler exposed one: the run then records which."""

    device: DeviceInfo | None
    lock: IO[str] | None = None

    def descriptors(self) -> tuple[int, ...]:
        return () if self.lock is None else (self.lock.fileno(),)


def lock_folder() -> Path:
    """One folder for the whole machine; ZL_LOCK_DIR names another, for containers that share devices."""
    default = Path(tempfile.gettempdir()) / "zlbench-devices"
    folder = Path(os.environ.get("ZL_LOCK_DIR", default))
    folder.mkdir(parents=True, exist_ok=True)
    if not os.environ.get("ZL_LOCK_DIR"):
        # Where another user made the folder, that user made it writable for all.
        with suppress(PermissionError):
            folder.chmod(0o1777)
    return folder


def named(backend: str, device: str | int | None) -> Lease:
    """A device that is named and not held, for a process that only compiles. Raises DeviceError."""
    return Lease(None if device in (None, SCHEDULER) else get_backend(backend).resolve_device(device))


@contextmanager
def lease(backend: str, device: str | int | None, purpose: str, patience: float) -> Iterator[Lease]:
    """Hold a device for the block. Waits up to `patience` seconds for another holder, saying who it is.

    Raises DeviceError when the device is not there and DeviceBusyError, naming the holder, when it stays busy.
    """
    if device in (None, SCHEDULER):
        yield Lease(None)
        return
    info = get_backend(backend).resolve_device(device)
    path = lock_folder() / f"{backend}-{_safe(info.uuid or str(info.index))}.lock"
    with open(path, "a+", encoding="utf-8") as stream:
        _wait_for(stream, path, info, patience)
        _say_who(stream, purpose)
        yield Lease(info, stream)


def _wait_for(stream: IO[str], path: Path, info: DeviceInfo, patience: float) -> None:
    deadline, told = time.monotonic() + patience, False
    while True:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            holder = _holder(path)
        if time.monotonic() >= deadline:
            raise DeviceBusyError(f"device {info.index} ({info.uuid}) is held by {holder}; lock file {path}")
        if not told:
            print(
                f"DEVICE_BUSY device {info.index} is held by {holder}; waiting up to {patience:.0f} s",
                flush=True,
            )
            told = True
        time.sleep(POLL_SECONDS)


def _say_who(stream: IO[str], purpose: str) -> None:
    stream.seek(0)
    stream.truncate()
    json.dump({"pid": os.getpid(), "purpose": f"{purpose} in {Path.cwd()}"}, stream)
    stream.flush()


def _holder(path: Path) -> str:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return f"pid {told['pid']} for {told['purpose']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "a process that has not said who it is"


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)
