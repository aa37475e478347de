"""A benchmark process whose interpreter is tests/data/faults/player.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import tests
from zlbench_core.backends.base import DeviceInfo
from zlbench_core.campaign.load import load_campaign
from zlbench_core.run.devices import Lease
from zlbench_core.run.runner import RunRequest, run_benchmark

DATA = tests.DATA / "faults"


class Bench:
    """Runs of one played benchmark in a folder of the test."""

    def __init__(self, folder: Path, monkeypatch) -> None:
        self.folder, self.monkeypatch = folder, monkeypatch
        self.python = folder / "python"
        source = (DATA / "player.py").read_text()
        source = source.replace("Path(__file__).resolve().parent", f"Path({str(DATA)!r})")
        self.python.write_text(f"#!{sys.executable}\n{source}")
        self.python.chmod(0o755)

    def run(self, fault: str = "", device: DeviceInfo | None = None, limit: int = 60, **config) -> dict:
        self.monkeypatch.setenv("PLAYER_FAULT", fault)
        sides = {"a": {"python": str(self.python)}, "b": None}
        campaign = load_campaign({"ops": ["add"], "dtypes": ["float32"], "sides": sides, **config})
        request = RunRequest(
            campaign, campaign.subject.side("a"), "add", self.folder / "a" / "r1", "off", limit, round=1
        )
        return run_benchmark(request, Lease(device))


@pytest.fixture
def bench(tmp_path, monkeypatch) -> Bench:
    return Bench(tmp_path, monkeypatch)
