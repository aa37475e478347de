from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from zlbench_core.run.cache_folders import OWNER, remove_dead_folders
from zlbench_core.run.runner import compiled_folder
from zlbench_core.run.tuner_caches import tuner_caches


def test_isolated_caches_are_empty_counted_and_dropped(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with tuner_caches("isolated", {"FLAGGEMS_DB_URL": "sqlite:////x.db"}) as caches:
        folders = {name: Path(caches.env[name]) for name in ("TRITON_CACHE_DIR", "FLAGGEMS_CACHE_DIR")}
        for folder in folders.values():
            folder.mkdir()
            (folder / "entry").write_text("x")
        (folders["TRITON_CACHE_DIR"] / "more").write_text("x")
    assert caches.state == {
        "isolated": True,
        "database_url": "cleared",
        "files_before": {"triton": 0, "flaggems": 0},
        "files_after": {"triton": 2, "flaggems": 1},
        "dropped": True,
    }
    assert list(tmp_path.iterdir()) == []


def test_a_shared_cache_is_counted_and_kept(tmp_path):
    (tmp_path / "flaggems").mkdir()
    (tmp_path / "flaggems" / "winners.db").write_text("x")
    with tuner_caches(f"shared:{tmp_path}", {}) as caches:
        assert caches.env["FLAGGEMS_CACHE_DIR"] == str(tmp_path / "flaggems")
    assert caches.state["files_before"] == {"triton": 0, "flaggems": 1}
    assert (caches.state["isolated"], caches.state["dropped"]) == (False, False)
    assert caches.state["database_url"] == "not set"
    assert (tmp_path / "flaggems" / "winners.db").exists()


def test_the_caches_are_dropped_when_the_run_is_broken_off(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    try:
        with tuner_caches("isolated", {}):
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert list(tmp_path.iterdir()) == []


def test_shards_share_what_they_compile_and_not_what_they_tune(tmp_path):
    common = compiled_folder(tmp_path / "record" / "shard-0")
    assert common == compiled_folder(tmp_path / "record" / "shard-1")
    with (
        tuner_caches("isolated", {}, compiled=common) as one,
        tuner_caches("isolated", {}, compiled=common) as two,
    ):
        assert one.env["TRITON_CACHE_DIR"] == two.env["TRITON_CACHE_DIR"] == str(common)
        assert one.env["FLAGGEMS_CACHE_DIR"] != two.env["FLAGGEMS_CACHE_DIR"]
        common.mkdir(parents=True)
    assert common.exists(), "the other shard may still be at it; the record drops it"


RUNNER = """
import subprocess, time
from zlbench_core.run.tuner_caches import tuner_caches
with tuner_caches("isolated", {}) as caches:
    benchmark = subprocess.Popen(["sleep", "60"], pass_fds=caches.descriptors)
    print(caches.root, benchmark.pid, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def killed(tmp_path, monkeypatch):
    """The folder of a runner that was killed, and its benchmark, which lives on."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    source = str(ROOT)
    env = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": source}
    with subprocess.Popen(
        [sys.executable, "-c", RUNNER], stdout=subprocess.PIPE, text=True, env=env
    ) as runner:
        folder, benchmark = runner.stdout.readline().split()
        assert remove_dead_folders() == [], "its runner lives"
        runner.kill()
    yield Path(folder), int(benchmark)
    if Path(folder).exists():
        os.kill(int(benchmark), signal.SIGKILL)


def test_what_a_killed_runner_left_is_removed_when_its_benchmark_has_ended_too(killed):
    folder, benchmark = killed
    assert remove_dead_folders() == []
    os.kill(benchmark, signal.SIGKILL)
    while Path(f"/proc/{benchmark}/fd/0").exists():
        os.sched_yield()
    assert remove_dead_folders() == [folder]
    assert not folder.exists()


def test_no_folder_is_removed_that_is_no_own_dead_one(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "zlbench-cache-new").mkdir()  # its owner has not come to write itself down
    elsewhere = tmp_path / "precious"
    elsewhere.mkdir()
    (elsewhere / OWNER).write_text("{}")
    (tmp_path / "zlbench-cache-link").symlink_to(elsewhere)
    assert remove_dead_folders() == []
    assert (elsewhere / OWNER).exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another user")
def test_another_users_folder_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    other = tmp_path / "zlbench-cache-other"
    other.mkdir()
    (other / OWNER).write_text("{}")
    os.chown(other, 65534, 65534)
    assert remove_dead_folders() == []
    os.chown(other, 0, 0)
    assert remove_dead_folders() == [other]
