"""Can a campaign write where it is to run? Asked before Snakemake does, which answers with a stack trace."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from zlbench_core.errors import MachineError


def check_writable(run_folder: Path, written: Iterable[str], made: Iterable[str] = ()) -> None:
    """Raises MachineError for the first of the folders below `run_folder` that cannot be made, or written.

    Those of `made` need only be there: a finished campaign may stand in a folder that can only be read.
    """
    places = [nearest(run_folder.absolute() / name) for name in written]
    places += [nearest(path) for name in made if not (path := run_folder.absolute() / name).is_dir()]
    for place in places:
        try:
            _try_to_write(place)
        except OSError as error:
            what = "run folder " if place == run_folder.absolute() else ""
            raise MachineError(
                f"{what}{place} cannot be written: {error.strerror}; "
                "make it writable, or run elsewhere (--directory FOLDER)"
            ) from None


def nearest(path: Path) -> Path:
    """`path`, or the folder in which it, or its own parent, is to be made."""
    return next(one for one in (path, *path.parents) if os.path.lexists(one))


def _try_to_write(folder: Path) -> None:
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    # What the file system says and not its mode bits: it may be read-only, full, or mapped to another user.
    with tempfile.TemporaryFile(dir=folder):
        pass
