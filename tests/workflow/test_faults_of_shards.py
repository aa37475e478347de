"""Shards that go wrong in a real campaign: nothing of them is published, the serial sweep is, and the end is good.

The operators are in tests/data/autotune/faulty_suite.py; test_shards.py has the faults that need no campaign.
"""

from __future__ import annotations

import json
import shutil

import pytest

from zlbench_core.pins.pins import load_pins
from zlbench_core.records.identity import load_identity

from .conftest import REPOSITORY, Campaign

REASONS = {
    "killed": "shard-1 ended with status 'failed' and pytest exit -9 (crashed: signal SIGKILL",
    "full": "shard-1 ended with status 'failed'",
}
KEYS = 4
SWITCH = {"a": {}, "b": {"env": {"DISABLE_LLVM_OPT": "1"}}}
each_fault = pytest.mark.parametrize("op", REASONS)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    (folder / "own").mkdir()
    shutil.copy(REPOSITORY / "tests/data/autotune/faulty_suite.py", folder / "own" / "test_faulty.py")
    campaign = Campaign(
        folder / "work",
        ops=list(REASONS),
        op_files=dict.fromkeys(REASONS, "faulty"),
        suite_dirs=[str(folder / "own")],
        sides=SWITCH,
        rounds=1,
        devices=[0, 1],
        autotune={"shards": 2},
        warmup=5,
        iter=5,
    )
    outcome = campaign()
    assert outcome.code == 0, outcome.text[-5000:]
    return campaign


@each_fault
def test_the_pins_are_the_serial_sweeps_and_say_why(ran, op):
    pins = load_pins(ran.path(op, "pins"))
    assert pins.meta["source_shards"] == ["serial"]
    assert pins.meta["discarded"]["shards"] == ["shard-0", "shard-1"]
    reason = pins.meta["discarded"]["reason"]
    assert REASONS[op] in reason
    assert "\n" not in reason
    assert len(pins.entries) == KEYS
    assert {entry.winner["kwargs"]["BLOCK"] for entry in pins.entries} == {16}


@each_fault
def test_the_logs_of_the_shards_are_kept(ran, op):
    for shard in ("shard-0", "shard-1", "serial"):
        assert ran.path(op, "record", shard, "run.log").stat().st_size > 0
        assert load_identity(ran.path(op, "record", shard))["status"] in ("complete", "failed")


@each_fault
def test_both_sides_replay_every_key(ran, op):
    for side in "ab":
        replay = load_identity(ran.path(op, side, "r1"))["replay"]
        assert (replay["fallbacks"], replay["unpinned"]) == ({}, [])
        assert replay["hits"] == replay["keys_pinned"] == KEYS
        assert {use["config"]["kwargs"]["BLOCK"] for use in replay["used"]} == {16}
        assert all(use["launches"] > 0 for use in replay["used"])


def test_the_campaign_ends_accepted(ran):
    operators = json.loads(ran.path("verdicts.json").read_text())["operators"]
    assert {line["op"] for line in operators} == set(REASONS)
    assert all(line["refusals"] == [] for line in operators)
    assert ran("require_accepted").code == 0


def test_the_shards_shared_the_cores_and_the_serial_sweep_had_them_all(ran):
    shard, serial = (
        load_identity(ran.path("killed", "record", name))["tuning"] for name in ("shard-0", "serial")
    )
    assert shard == {**serial, "workers": max(1, serial["workers"] // 2)}
