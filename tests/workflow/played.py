"""Campaigns whose benchmarks are played from a recorded run: real Snakemake, real chain, a second or two."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zlbench_core.records.identity import load_identity

from .conftest import REPOSITORY, Campaign

DATA = REPOSITORY / "tests" / "data" / "faults"
SECRET = "hunter2-the-secret"
SIDES = {"a": {}, "b": {"env": {"DISABLE_LLVM_OPT": "1", "SERVICE_TOKEN": SECRET}}}


def make_player(folder: Path) -> Path:
    """An executable that stands in for a side's python."""
    script = folder / "player" / "bin" / "python"
    script.parent.mkdir(parents=True)
    source = (DATA / "player.py").read_text()
    source = source.replace("Path(__file__).resolve().parent", f"Path({str(DATA)!r})")
    script.write_text(f"#!{sys.executable}\n{source}")
    script.chmod(0o755)
    return script


def played(folder: Path, player: Path, **config) -> Campaign:
    sides = {name: {**side, "python": str(player)} for name, side in SIDES.items()}
    return Campaign(folder, **{"ops": ["add"], "sides": sides, **config})


def copy_of(finished: Campaign, folder: Path, **config) -> Campaign:
    """The same campaign in another folder, with every time of writing as it was."""
    shutil.copytree(finished.folder, folder, symlinks=True)
    return Campaign(folder, **{**finished.config, **config})


def started(campaign: Campaign) -> dict[str, str]:
    """When each finished run began: a run that was measured again has another time."""
    return {
        str(path.parent.relative_to(campaign.path())): load_identity(path.parent)["started"]
        for path in campaign.path().glob("*/*/r*/run_identity.json")
    }


@contextmanager
def running(campaign: Campaign, until: Path, **env: str) -> Iterator[subprocess.Popen[str]]:
    """The plain command in a process group of its own, at the moment when `until` exists."""
    process = campaign.start(env=env)
    try:
        deadline = time.monotonic() + 300
        while not until.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert until.exists(), process.communicate()
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()
