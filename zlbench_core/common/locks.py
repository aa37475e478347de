"""Locks between processes, and who holds them.

A `Lock` is an open file that the kernel frees when the last process that has it open ends, however that ends; a child
that inherits its descriptor keeps it held. A claim is for what must outlast the process: it is taken for good.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

_LONGEST = 1 << 16  # bytes of what a holder says of itself


class Lock:
    """A lock file, open until `close` or the end of the block. Raises OSError where it cannot be opened."""

    def __init__(self, path: Path, *, create: bool = True, for_all: bool = False) -> None:
        """`for_all`: users other than the one who makes the file may open it too, whatever the umask says."""
        self.descriptor = _opened(path, create, for_all)

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        os.close(self.descriptor)

    def take(self) -> bool:
        """Whether it is this process's now; False while another holds it."""
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def wait(self) -> None:
        """Take it, however long another holds it."""
        fcntl.flock(self.descriptor, fcntl.LOCK_EX)

    def wait_for(self, seconds: float, poll_seconds: float, busy: Callable[[], None]) -> bool:
        """Whether it could be taken within `seconds`; `busy` is called once, when there is a wait."""
        deadline, told = time.monotonic() + seconds, False
        while not self.take():
            if time.monotonic() >= deadline:
                return False
            if not told:
                busy()
                told = True
            time.sleep(poll_seconds)
        return True

    def say(self, told: Mapping[str, Any]) -> None:
        """Write down who holds it, for those who find it taken."""
        content = json.dumps(told).encode()
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, content, 0)

    def told(self) -> dict[str, Any]:
        """What its holder, or its last one, said; empty where nobody has said anything that can be read."""
        try:
            found = json.loads(os.pread(self.descriptor, _LONGEST, 0))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def others(self) -> list[int]:
        """The other processes that have it open, of those that this user may see."""
        inode, found = os.fstat(self.descriptor), set()
        for link in Path("/proc").glob("[0-9]*/fd/*"):
            with suppress(OSError):
                if link.parts[2] != str(os.getpid()) and os.path.samestat(link.stat(), inode):
                    found.add(int(link.parts[2]))
        return sorted(found)


def lives(pid: int) -> bool:
    """Whether there is such a process; true where nothing says so."""
    return Path("/proc", str(pid)).exists() or not Path("/proc/self").exists()


def claim(path: Path, owner: str) -> bool:
    """Whether `owner` is the first to claim `path`: a symbolic link is made with its owner's name in one step."""
    try:
        path.symlink_to(owner)
    except FileExistsError:
        return False
    return True


def claimed_by(path: Path) -> str:
    """The owner of a claim that is there. Raises OSError."""
    return os.readlink(path)


def _opened(path: Path, create: bool, for_all: bool) -> int:
    # Creating is tried apart, since the kernel forbids O_CREAT on others' files in a sticky folder.
    flags = os.O_RDWR | os.O_CLOEXEC
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        if not create:
            raise
    descriptor = os.open(path, flags | os.O_CREAT, 0o666)
    if for_all:
        with suppress(PermissionError):
            os.fchmod(descriptor, 0o666)
    return descriptor
