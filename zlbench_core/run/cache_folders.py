"""The temporary folder of one run's caches: whose it is, and its end when its owner was killed.

The owner is a lock and not a process id, which another process may have by now: runner and benchmark hold it, so that
a folder is free when, and only when, the last of both has ended.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from zlbench_core.common.locks import Lock
from zlbench_core.errors import MachineError

PREFIX = "zlbench-cache-"
OWNER = "owner.json"


@contextmanager
def own_folder() -> Iterator[tuple[Path, int]]:
    """A new folder, gone after the block, and the descriptor of its lock, for the benchmark to inherit.

    Raises MachineError where there is no room for one.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    except OSError as error:
        raise MachineError(
            f"no folder for the run's caches: {error.strerror}; TMPDIR may name another"
        ) from None
    try:
        hidden = folder / f".{OWNER}"
        with Lock(hidden) as lock:
            lock.wait()
            lock.say({"pid": os.getpid()})
            # Under its name only when it is held: until then nobody takes the folder for a dead one.
            hidden.rename(folder / OWNER)
            yield folder, lock.descriptor
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_dead_folders() -> list[Path]:
    """Remove this user's folders whose runner and benchmark have both ended; returns them."""
    found = Path(tempfile.gettempdir()).glob(f"{PREFIX}*")
    return [folder for folder in sorted(found) if _is_own(folder) and _removed(folder)]


def _is_own(folder: Path) -> bool:
    with suppress(OSError):
        return folder.is_dir() and folder.lstat().st_uid == os.getuid() and not folder.is_symlink()
    return False


def _removed(folder: Path) -> bool:
    try:
        with Lock(folder / OWNER, create=False) as lock:
            if not lock.take():
                return False
            shutil.rmtree(folder, ignore_errors=True)
    except OSError:  # without an owner yet
        return False
    return not folder.exists()
