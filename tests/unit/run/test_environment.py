"""What the runner tells a record about compiling ahead."""

from __future__ import annotations

from pathlib import Path

import pytest

from zlbench_core.campaign.load import load_campaign
from zlbench_core.records.run_env import COMPILE_THREADS
from zlbench_core.run.devices import Lease
from zlbench_core.run.runner import RunRequest, benchmark_env
from zlbench_core.tuning.compile_ahead import COMPILE_POOL, EARLY_DROP, Settings


def settings(shards: int, mode: str = "record", **autotune) -> dict[str, str]:
    config = {"backend": "cpu", "ops": ["add"], "sides": {"a": {}, "b": None}, "autotune": autotune}
    campaign = load_campaign(config)
    request = RunRequest(
        campaign, campaign.subject.side("a"), "add", Path("/out"), mode, 9, shard=(0, shards)
    )
    return benchmark_env(request, Lease(None))


@pytest.fixture(autouse=True)
def cores(monkeypatch):
    monkeypatch.setattr("zlbench_core.run.runner.available_cpus", lambda: 16)


@pytest.mark.parametrize(("shards", "threads"), [(1, 16), (2, 8), (3, 5), (64, 1)])
def test_the_shards_of_a_record_share_the_cores(shards, threads):
    assert Settings.read(settings(shards)) == Settings(threads, "fork", early_drop=True)


def test_the_knobs_of_the_configuration_reach_the_record():
    env = settings(2, compile_threads=3, compile_pool="threads", early_drop=True)
    assert Settings.read(env) == Settings(3, "threads", early_drop=True)


def test_a_command_lines_strings_are_read_as_they_were_meant():
    assert Settings.read(settings(1, compile_threads="3", early_drop="true")) == Settings(3, "fork", True)


def test_a_replay_is_told_nothing_about_tuning(monkeypatch):
    monkeypatch.setenv(COMPILE_POOL, "threads")
    env = settings(1, mode="replay")
    assert not {COMPILE_THREADS, COMPILE_POOL, EARLY_DROP} & set(env)
