"""What can happen to one benchmark process, and what its identity and the user are told."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from zlbench_core.errors import DeviceError, MachineError
from zlbench_core.records.identity import load_identity
from zlbench_core.records.vouched import check_digests
from zlbench_core.run import cache_folders, runner

QUERY_LINE = "0, GPU-11111111-2222-3333-4444-555555555555, NVIDIA H200, 143771, 570.1"


def test_a_run_without_a_fault_is_complete(bench):
    assert bench.run()["status"] == "complete"
    assert check_digests(bench.folder / "a" / "r1") == []


def test_a_hung_benchmark_ends_with_its_grandchild_though_both_ignore_sigterm(bench, monkeypatch):
    monkeypatch.setattr(runner, "GRACE_SECONDS", 0.2)
    told = bench.folder / "pid"
    identity = bench.run(f"hang:{told}", limit=2)
    assert (identity["status"], identity["timed_out"]) == ("failed", True)
    assert identity["failure"] == "timeout: ended after 2 s"
    leader, grandchild = map(int, told.read_text().split())
    assert not lives(leader)
    assert not lives(grandchild)


def test_what_a_benchmark_leaves_behind_does_not_keep_the_device(bench):
    told = bench.folder / "pid"
    assert bench.run(f"leave:{told}")["status"] == "complete"
    assert not lives(int(told.read_text()))


def test_a_killed_benchmark_is_a_fact_and_the_next_run_starts_from_an_empty_folder(bench):
    identity = bench.run("die")
    assert identity["failure"] == "crashed: signal SIGKILL (out of memory, or killed from outside)"
    (bench.folder / "a" / ".r1.left").mkdir()  # a removal of the old folder that was killed half way
    assert bench.run()["status"] == "complete"
    assert [path.name for path in (bench.folder / "a").iterdir()] == ["r1"]


def test_a_full_disk_inside_the_benchmark_is_not_the_operators_failure(bench):
    with pytest.raises(MachineError, match=r"the disk was full during .*; make room"):
        bench.run("full_disk")
    assert bench.run()["status"] == "complete"


@pytest.fixture
def nvidia_smi(bench, monkeypatch) -> Path:
    """A vendor tool that lists one GPU for as long as the file that this returns is there."""
    tool, listed = bench.folder / "bin" / "nvidia-smi", bench.folder / "listed"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\n[ -e {listed} ] && [ "$1" != -L ] && echo "{QUERY_LINE}"\nexit 0\n')
    tool.chmod(0o755)
    listed.touch()
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    return listed


def test_a_gpu_that_disappears_during_a_run_is_not_the_operators_failure(bench, nvidia_smi):
    device = runner.get_backend("cuda").resolve_device(0)
    with pytest.raises(DeviceError, match="nvidia-smi lists none"):
        bench.run(f"fail:{nvidia_smi}", device, backend="cuda")
    nvidia_smi.touch()
    assert bench.run("", device, backend="cuda")["status"] == "complete"


def test_a_failure_on_a_gpu_that_is_still_there_is_the_operators(bench, nvidia_smi):
    device = runner.get_backend("cuda").resolve_device(0)
    assert bench.run("fail:/nowhere", device, backend="cuda")["failure"] == "pytest exit 1"


@pytest.mark.parametrize("place", ["a file", "below a file"])
def test_a_shared_cache_that_cannot_be_written_is_refused_before_the_run(bench, place):
    (bench.folder / "cache").touch()
    cache = bench.folder / "cache" / ("" if place == "a file" else "deeper")
    with pytest.raises(MachineError, match=r"tuner_cache shared:.* cannot be written"):
        bench.run(tuner_cache=f"shared:{cache}")
    assert load_identity(bench.folder / "a" / "r1")["status"] == "running"
    assert bench.run(tuner_cache=f"shared:{bench.folder / 'other'}")["status"] == "complete"


def test_no_temporary_folder_is_refused_and_named(bench, monkeypatch):
    def none(**options):
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(cache_folders.tempfile, "mkdtemp", none)
    with pytest.raises(MachineError, match="No usable temporary directory found"):
        bench.run()


def test_a_clock_that_steps_back_during_a_run_changes_nothing_but_its_times(bench, monkeypatch):
    times = iter(["2026-11-30T12:00:00.000000+00:00", "2026-11-30T11:00:00.000000+00:00"])
    monkeypatch.setattr(runner, "now", lambda: next(times))
    identity = bench.run()
    assert identity["status"] == "complete"
    assert identity["started"] > identity["ended"]
    assert check_digests(bench.folder / "a" / "r1") == []


def lives(pid: int) -> bool:
    """Whether a process runs, a moment after it was killed; one that only waits to be reaped does not."""
    stat = Path(f"/proc/{pid}/stat")
    for _ in range(100):
        try:
            if stat.read_text().rpartition(")")[2].split()[0] == "Z":
                return False
        except OSError:
            return False
        time.sleep(0.02)
    return True
