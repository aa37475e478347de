"""One campaign at a time in a working folder: a lock that the kernel frees, so that a dead run is told from a live one.

Snakemake's own lock files name nobody. Those of a killed run look like those of a live one, its advice is `--unlock`
for both, and `--unlock` beside a live run lets two runs write the same files (docs/snakemake.md, Interruption).
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

from zlbench_core.common.locks import Lock
from zlbench_core.errors import FolderBusyError
from zlbench_core.records.identity import now

SNAKEMAKE = ".snakemake"
LOCK = Path(SNAKEMAKE) / "zlbench.lock"
SNAKEMAKE_LOCKS = Path(SNAKEMAKE) / "locks"
_held: list[Lock] = []  # open for as long as the process lives


def hold_folder(folder: Path = Path()) -> list[str]:
    """Hold `folder` for the life of this process; lines on what a killed run left there.

    Raises FolderBusyError, naming the holder, while another Snakemake runs a campaign there.
    """
    path = folder / LOCK
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = Lock(path)
    before = lock.told()
    if not lock.take():
        lock.close()
        raise FolderBusyError(
            f"{_who(before)} runs a campaign in {folder.absolute()} since {before.get('since', 'a while')}; wait for "
            f"it, or end it with kill -TERM {before.get('pid', 'PID')}, which lets running jobs finish; "
            "--unlock is wrong while it lives"
        )
    _held.append(lock)
    lock.say({"pid": os.getpid(), "host": socket.gethostname(), "since": now()})
    return _remove_dead_locks(folder / SNAKEMAKE_LOCKS, before)


def _remove_dead_locks(locks: Path, before: dict[str, Any]) -> list[str]:
    """What nobody on this machine holds is removed. Of another machine's run nothing is known here."""
    left = sorted(locks.glob("*.lock")) if locks.is_dir() else []
    if not left:
        return []
    if before.get("host") != socket.gethostname():
        return [
            f"a lock of {_who(before)} is in {locks}; if no Snakemake runs there any more, add --unlock once, "
            "then give the plain command again"
        ]
    for path in left:
        path.unlink(missing_ok=True)
    return [f"{_who(before)} was killed and left its lock; it is removed, and what is finished stays"]


def _who(told: dict[str, Any]) -> str:
    if not told:
        return "a Snakemake that has not said who it is"
    return f"Snakemake (pid {told.get('pid')} on {told.get('host')})"
