"""The caches of one benchmark process: folders of its own that are dropped after it, or the shared one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zlbench_core.errors import MachineError
from zlbench_core.run.cache_folders import own_folder

# Each reads its variable when it is imported; without it, they write below the user's home.
VARIABLES = {"triton": "TRITON_CACHE_DIR", "flaggems": "FLAGGEMS_CACHE_DIR"}
# Where FlagGems' tuner finds its database before it looks at its cache folder: never passed on (environment.py).
DATABASE = "FLAGGEMS_DB_URL"


@dataclass
class TunerCaches:
    """`state` is what the identity keeps: files before and after the run, and whether the folders are gone."""

    root: Path
    isolated: bool
    compiled: Path | None = None  # the compiler's cache that the shards of one record share
    descriptors: tuple[int, ...] = ()  # the benchmark inherits these, and so says that it uses the folder
    state: dict[str, Any] = field(default_factory=dict)

    @property
    def env(self) -> dict[str, str]:
        return {VARIABLES[name]: str(folder) for name, folder in self.folders().items()}

    def folders(self) -> dict[str, Path]:
        own = {name: self.root / name for name in VARIABLES}
        return own if self.compiled is None else own | {"triton": self.compiled}

    def files(self) -> dict[str, int]:
        return {
            name: sum(path.is_file() for path in folder.rglob("*")) for name, folder in self.folders().items()
        }


@contextmanager
def tuner_caches(
    setting: str, environ: Mapping[str, str] = os.environ, compiled: Path | None = None
) -> Iterator[TunerCaches]:
    """The caches that `tuner_cache` asks for: "isolated" or "shared:<folder>". Ready until the block ends.

    Raises MachineError where they cannot be written.

    `compiled` is the compiler's cache of a record's shards, so that none compiles what another has; its entries are
    named by their content, and it is dropped with the record (run/record.py).
    """
    kind, _, shared = setting.partition(":")
    if kind == "shared":
        caches = TunerCaches(_writable(Path(shared).expanduser().absolute()), isolated=False)
        with _watched(caches, environ):
            yield caches
    else:
        with own_folder() as (root, lock):
            caches = TunerCaches(root, isolated=True, compiled=compiled, descriptors=(lock,))
            with _watched(caches, environ):
                yield caches
    caches.state["dropped"] = not caches.root.exists()


def _writable(root: Path) -> Path:
    """`root`, made where it is missing. Raises MachineError: a tuner would go on without a cache, silently."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=root):
            return root
    except OSError as error:
        raise MachineError(f"tuner_cache shared:{root} cannot be written: {error.strerror}") from None


@contextmanager
def _watched(caches: TunerCaches, environ: Mapping[str, str]) -> Iterator[None]:
    caches.state |= {
        "isolated": caches.isolated,
        "database_url": "cleared" if DATABASE in environ else "not set",
        "files_before": caches.files(),
    }
    yield
    caches.state["files_after"] = caches.files()
