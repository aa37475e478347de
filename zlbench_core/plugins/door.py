"""A door for callers of the first zl_bench, whose pins have a meta.json of no schema; no replay goes through it."""

from __future__ import annotations

from pathlib import Path

from zlbench_core.common.files import read_object
from zlbench_core.errors import PinsError
from zlbench_core.pins.pins import META_NAME, backend_ok
from zlbench_core.records.run_env import RunEnv


def replay_backend_ok(folder: Path | str) -> bool:
    """Whether the pins in `folder` may be replayed on the backend that this process was asked for, by the `backend` of
    their meta.json alone; those without one may. Raises PinsError for a meta.json that is no JSON object.

    pins.load_pins, which a replay asks, refuses a meta.json of no schema, and one that vouches for other pins.
    """
    path = Path(folder) / META_NAME
    meta = read_object(path, PinsError, what="pins") if path.exists() else None
    return backend_ok(meta, RunEnv.read().backend)
