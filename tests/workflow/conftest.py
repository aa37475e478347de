"""Real Snakemake runs of the real workflow, each in a folder of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

REPOSITORY = Path(__file__).parents[2]
SNAKEFILE = REPOSITORY / "workflow" / "Snakefile"
# One small shape for each operator and a few launches of it, where a test is about the chain around them.
QUICK = {"shape_file": str(REPOSITORY / "tests" / "data" / "one-shape.yaml"), "warmup": 5, "iter": 5}


def _listen_to_ctrl_c() -> None:
    """Where the tests run in the background of a shell, they and their children start with SIGINT ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@dataclass
class Outcome:
    code: int
    out: str
    err: str
    log: str  # Snakemake's own

    @property
    def text(self) -> str:
        return self.out + self.err

    @property
    def jobs(self) -> dict[str, int]:
        """How many jobs of each rule Snakemake planned: the last of its job tables."""
        tables = re.findall(r"^job +count\n-.*\n((?:\w+ +\d+\n)+)", self.text + self.log, re.MULTILINE)
        lines = [line.split() for line in tables[-1].splitlines()] if tables else []
        return {rule: int(count) for rule, count in lines if rule != "total"}


class Campaign:
    """A working folder with a campaign file, and Snakemake run in it."""

    def __init__(self, folder: Path, **config) -> None:
        self.folder = folder
        self.config = {"backend": "cpu", "provider": "builtin", "dtypes": ["float32"], "rounds": 2, **config}

    def __call__(self, *args: str, env: dict[str, str] | None = None, cores: int = 2) -> Outcome:
        before = set(self.logs())
        process = self.start(*args, env=env, cores=cores)
        try:
            out, err = process.communicate(timeout=500)
        finally:
            if process.poll() is None:
                process.kill()
        log = "".join(path.read_text() for path in self.logs() if path not in before)
        return Outcome(process.returncode, out, err, log)

    def logs(self) -> list[Path]:
        """What Snakemake wrote down of each of its runs here."""
        return sorted((self.folder / ".snakemake" / "log").glob("*.snakemake.log"))

    def start(self, *args: str, env: dict[str, str] | None = None, cores: int = 2) -> subprocess.Popen[str]:
        """Snakemake in a process group of its own, as a shell starts it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / "campaign.yaml"
        file.write_text(yaml.safe_dump(self.config))
        command = [sys.executable, "-m", "snakemake", "--snakefile", str(SNAKEFILE)]
        command += ["--directory", str(self.folder), "--cores", str(cores), *args, "--configfile", str(file)]
        # Locks of its own: a campaign elsewhere on this machine is no business of a test.
        env = {**os.environ, "ZL_LOCK_DIR": str(self.folder / "locks"), **(env or {})}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(
            command, text=True, env=env, start_new_session=True, preexec_fn=_listen_to_ctrl_c, **pipes
        )

    def path(self, *parts: str) -> Path:
        return self.folder.joinpath("results", "cpu", *parts)


@pytest.fixture(scope="session")
def player(tmp_path_factory) -> Path:
    from .played import make_player

    return make_player(tmp_path_factory.mktemp("player"))


@pytest.fixture(scope="session")
def finished(tmp_path_factory, player) -> Campaign:
    """One finished campaign of played runs; tests take copies of it."""
    from .played import played

    campaign = played(tmp_path_factory.mktemp("finished"), player)
    outcome = campaign()
    assert outcome.code == 0, outcome.text[-3000:]
    return campaign


@pytest.fixture
def campaign(tmp_path):
    def make(**config) -> Campaign:
        return Campaign(tmp_path / "work", **config)

    return make
