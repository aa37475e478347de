"""Leases: no two benchmark processes of this machine ever use one device at once."""

from __future__ import annotations

import getpass
import os
import re
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zlbench_core.backends import get_backend
from zlbench_core.backends.base import DeviceInfo
from zlbench_core.common.locks import Lock, lives
from zlbench_core.errors import DeviceBusyError, DeviceError

POLL_SECONDS = 1.0
SCHEDULER = "scheduler"  # the device of a job whose scheduler exposes one
# Which GPUs Slurm gave to this job, for backends whose own variable Slurm does not know.
SLURM_KEYS = ("SLURM_STEP_GPUS", "SLURM_JOB_GPUS")
_writing = threading.Lock()  # a duet has a thread for each of its benchmarks


@dataclass(frozen=True)
class Lease:
    """A device that this process holds, or None where the work needs none."""

    device: DeviceInfo | None
    lock: Lock | None = None

    def descriptors(self) -> tuple[int, ...]:
        return () if self.lock is None else (self.lock.descriptor,)

    def name_benchmark(self, pid: int) -> None:
        """Name a process that inherited the lock: it holds the device once the worker is killed."""
        if self.lock is not None:
            with _writing:
                told = self.lock.told()
                self.lock.say({**told, "benchmarks": [*told["benchmarks"], pid]})


def lock_folder() -> Path:
    """One folder for the whole machine; ZL_LOCK_DIR names another, for containers that share devices.

    Sticky and writable for all, as /tmp is: each user's locks are open to the others, and safe from them.
    """
    default = Path(tempfile.gettempdir()) / "zlbench-devices"
    folder = Path(os.environ.get("ZL_LOCK_DIR", default))
    folder.mkdir(parents=True, exist_ok=True)
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

    Raises DeviceError when the device is not there, or is not the one that this job's scheduler exposed, and
    DeviceBusyError, naming the holder, when it stays busy.
    """
    info = _device_of(backend, device)
    if info is None:
        yield Lease(None)
        return
    path = lock_folder() / f"{backend}-{_safe(info.uuid or str(info.index))}.lock"
    with Lock(path, for_all=True) as lock:
        _wait_for(lock, path, info, patience)
        lock.say(_who(purpose))
        yield Lease(info, lock)


def exposed_device(backend: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """The device that a scheduler, or a user's mask, left to this process; None where nothing says so.

    Raises DeviceError where several are left: a benchmark takes one.
    """
    for key in (*get_backend(backend).visibility_keys, *SLURM_KEYS):
        value = environ.get(key, "").strip()
        if "," in value:
            raise DeviceError(f"{key}={value} leaves several devices; ask for one device per job")
        if value:
            return value
    return None


def _device_of(backend: str, device: str | int | None) -> DeviceInfo | None:
    host = get_backend(backend)
    if device not in (None, SCHEDULER):
        _refuse_inside_a_job(backend, device)
        return host.resolve_device(device)
    exposed = exposed_device(backend)
    if exposed is not None:
        return host.resolve_device(exposed)
    if not host.visibility_keys:  # no devices to expose
        return None
    found = host.enumerate_devices()
    if len(found) == 1:
        return host.resolve_device(found[0].uuid or found[0].index)
    raise DeviceError(
        f"devices is [], and no scheduler has chosen one of {len(found)}: {host.visibility_keys[0]} is not set"
    )


def _refuse_inside_a_job(backend: str, device: str | int) -> None:
    """An index of the campaign's is not an index of the job's: it would take another job's device."""
    given = next((os.environ[key] for key in SLURM_KEYS if os.environ.get(key)), None)
    if given is not None:
        raise DeviceError(f"devices names {device}, and Slurm gave this job GPU {given}; set devices to []")


def _wait_for(lock: Lock, path: Path, info: DeviceInfo, patience: float) -> None:
    def tell() -> None:
        print(
            f"DEVICE_BUSY device {info.index} is held by {_holder(lock)}; waiting up to {patience:.0f} s",
            flush=True,
        )

    if not lock.wait_for(patience, POLL_SECONDS, tell):
        raise DeviceBusyError(
            f"device {info.index} ({info.uuid}) is held by {_holder(lock)}; lock file {path}"
        )


def _who(purpose: str) -> dict[str, Any]:
    return {"pid": os.getpid(), "user": _user(), "purpose": f"{purpose} in {Path.cwd()}", "benchmarks": []}


def _holder(lock: Lock) -> str:
    told = lock.told()
    try:
        pid, rest = int(told["pid"]), f"of {told['user']} for {told['purpose']}"
        named = [int(benchmark) for benchmark in told.get("benchmarks", ())]
    except (ValueError, KeyError, TypeError):
        return "a process that has not said who it is"
    # Of this user's processes it is known who has the lock; of another's, only who said so and lives.
    holding = lock.others()
    if pid in holding or (not holding and lives(pid)):
        return f"pid {pid} {rest}"
    left = holding or [benchmark for benchmark in named if lives(benchmark)]
    who = ", ".join(map(str, left)) or "which this user may not see"
    return f"a process that pid {pid} {rest} left behind when it was killed (pid {who})"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return f"user {os.getuid()}"


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)
