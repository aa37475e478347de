"""The pair's processes: real ones, small, in the place of benchmarks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.run.duet.duet_fakes import coins, settings
from zlbench_core.campaign.load import default_config, load_campaign
from zlbench_core.records.identity import init_identity, load_identity
from zlbench_core.run.devices import Lease
from zlbench_core.run.duet import pair
from zlbench_core.run.runner import OnStart, RunRequest

SIDE = """
import os, subprocess, sys, time
from zlbench_core.duet.client import Client
side = os.environ["ZL_DUET_SIDE"]
client = Client(os.environ["ZL_DUET_SOCKET"], side)
row = {"key": "k", "occurrence": 0, "node": "n", "label": "row k", "estimate_ms": 1.0, "graph": False, "refusal": None}
message = client.ask("row", **row)
while message["type"] != "done":
    if message["type"] == "block" and side == "b":
        %s
    if message["type"] == "prepare":
        message = client.ask("prepared", sample_ms=1.0, refusal=None)
    else:
        message = client.ask("block", samples_ms=[1.0] * message["count"], disturbed=None)
client.tell("bye")
"""
HANGS = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); time.sleep(600)"


class Launcher:
    """Stands in for run_benchmark: the same promises, another process."""

    def __init__(self, program: str, interrupt_in_ending: int = 0, interrupt_before: str = "") -> None:
        self.program = program
        self.endings = -interrupt_in_ending  # the ending that makes this 0 is interrupted
        self.interrupt_before = interrupt_before  # the start of this side
        self.started: list[str] = []
        self.processes: list[subprocess.Popen[bytes]] = []

    def __call__(self, request: RunRequest, lease: Lease, on_start: OnStart) -> dict[str, Any]:
        init_identity(request.out_dir, op=request.op, round=request.round, status="running")
        if request.side.name == self.interrupt_before:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.3)
        env = {**os.environ, "ZL_DUET_SOCKET": str(request.duet_socket), "ZL_DUET_SIDE": request.side.name}
        process = subprocess.Popen(
            [sys.executable, "-c", self.program], env=env, start_new_session=True, stderr=subprocess.DEVNULL
        )
        self.started.append(request.side.name)
        self.processes.append(process)
        on_start(lambda: self._end(process))
        code = process.wait()
        if self.endings > -1:
            time.sleep(0.3)  # what a run does before it tells how it ended
        failure = None if code == 0 else f"crashed: signal {-code}" if code < 0 else f"pytest exit {code}"
        init_identity(
            request.out_dir,
            op=request.op,
            round=request.round,
            status="failed" if failure else "complete",
            failure=failure,
        )
        return load_identity(request.out_dir)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        self.endings += 1
        if self.endings == 0:
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


@pytest.fixture
def replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Launcher, dict[str, dict[str, Any]]]]:
    def play(program: str, number: int = 1, **changes: Any) -> tuple[Launcher, dict[str, dict[str, Any]]]:
        launcher = Launcher(SIDE % program)
        monkeypatch.setattr(pair, "run_benchmark", launcher)
        order = pair.replay_pair(_requests(tmp_path, number), Lease(None), settings(**changes))
        assert list(order) == launcher.started
        return launcher, {side: load_identity(tmp_path / side) for side in "ab"}

    return play


@pytest.fixture
def interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Launcher]:
    """Play a duet that is interrupted; what holds of each such is asserted here."""

    def play(launcher: Launcher, **changes: Any) -> Launcher:
        monkeypatch.setattr(pair, "run_benchmark", launcher)
        with pytest.raises(KeyboardInterrupt):
            pair.replay_pair(_requests(tmp_path), Lease(None), settings(**changes))
        assert all(process.returncode is not None for process in launcher.processes)
        assert [thread.name for thread in threading.enumerate() if "duet side" in thread.name] == []
        assert list(tmp_path.glob("[ab]/run_identity.json")) == []
        return launcher

    return play


def _requests(root: Path, number: int = 1) -> dict[str, RunRequest]:
    campaign = load_campaign({**default_config(), "protocol": "duet"})
    return {
        side: RunRequest(campaign, campaign.subject.side(side), "mm", root / side, "off", 60, round=number)
        for side in "ab"
    }


@pytest.mark.parametrize("number", [1, 2])
def test_both_processes_run_and_the_side_of_the_coin_is_launched_first(replay: Any, number: int) -> None:
    launcher, identities = replay("pass", number)
    assert launcher.started[0] == coins(number=number).first_side()
    assert {identity["status"] for identity in identities.values()} == {"complete"}


def test_a_side_that_is_killed_in_a_row_fails_both_and_both_name_it(replay: Any) -> None:
    _, identities = replay("os.kill(os.getpid(), 9)")
    for identity in identities.values():
        assert identity["status"] == "failed"
        assert identity["failure"] == "duet: side b died at row row k (crashed: signal 9)"


def test_an_interruption_is_no_failure_of_a_side_and_leaves_no_identity(replay: Any, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        replay("os.kill(os.getppid(), 2); time.sleep(600)")
    assert sorted(path.name for path in tmp_path.glob("[ab]/run_identity.json")) == []
    assert {path.name for path in tmp_path.iterdir()} >= {"a", "b"}, "both sides had begun"


@pytest.mark.parametrize("side", ["a", "b"])
def test_a_side_that_had_not_started_when_it_was_interrupted_is_ended_as_it_starts(
    interrupted: Callable[..., Launcher], side: str
) -> None:
    launcher = interrupted(Launcher("import time; time.sleep(5)", interrupt_before=side))
    assert {process.returncode for process in launcher.processes} == {-signal.SIGKILL}


def test_a_second_interruption_while_the_sides_are_being_ended_changes_nothing(
    interrupted: Callable[..., Launcher],
) -> None:
    program = "os.kill(os.getppid(), 2); time.sleep(600)"
    launcher = interrupted(Launcher(SIDE % program, interrupt_in_ending=2))
    assert sorted(launcher.started) == ["a", "b"]


def test_a_side_that_hangs_is_ended_with_its_children(replay: Any) -> None:
    launcher, identities = replay(HANGS, patience=2.0)
    reason = "duet: side b hangs: no word for 2 s at row row k"
    assert all(identity["failure"].startswith(reason) for identity in identities.values())
    for process in launcher.processes:
        assert process.poll() is not None
        _gone(process.pid)


def _gone(group: int) -> None:
    """Nobody of the group is left, once its members are reaped by whoever inherited them."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        if not _living(group):
            return
        time.sleep(0.05)
    raise AssertionError(f"process group {group} still lives")


def _living(group: int) -> bool:
    listed = subprocess.run(
        ["ps", "-o", "stat=", "-g", str(group)], capture_output=True, text=True, check=False
    )
    return any(not line.startswith("Z") for line in listed.stdout.split())


def test_a_benchmark_that_cannot_be_started_is_raised_and_leaves_no_partner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = Launcher(SIDE % "pass")

    def run(request: RunRequest, lease: Lease, on_start: OnStart) -> dict[str, Any]:
        if request.side.name == "b":
            raise FileNotFoundError("/gone/python")
        return launcher(request, lease, on_start)

    monkeypatch.setattr(pair, "run_benchmark", run)
    with pytest.raises(FileNotFoundError, match="/gone/python"):
        pair.replay_pair(_requests(tmp_path), Lease(None), settings())
    assert all(process.poll() is not None for process in launcher.processes)


def test_a_side_imports_nothing_that_a_vendors_interpreter_may_lack() -> None:
    code = (
        "import sys\n"
        "for name in ('scipy', 'jsonschema', 'snakemake', 'pandas'): sys.modules[name] = None\n"
        "import zlbench_core.plugins.duet, zlbench_core.plugins.timing, zlbench_core.duet.session\n"
        "assert 'torch' not in sys.modules and 'triton' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
