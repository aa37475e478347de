"""The other kinds of campaign are the same Snakefile with another config."""

from __future__ import annotations

import csv
import json

import yaml

from .conftest import QUICK
from .played import played


def statuses(campaign):
    with campaign.path("ops_status.csv").open(newline="") as stream:
        return {(line["op"], line["side"]): line for line in csv.DictReader(stream)}


def test_one_side_only_gives_a_status_and_a_speedup_and_archives_its_shapes(campaign):
    one = campaign(ops=["add"], sides={"a": {}, "b": None}, rounds=1, **QUICK)
    outcome = one()
    assert outcome.code == 0, outcome.text[-3000:]
    assert statuses(one)["add", "a"]["status"] == "ok"
    with one.path("summary.csv").open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert lines
    assert all(float(line["speedup"]) > 0 and line["latency_b_ms"] == "" for line in lines)
    assert not one.path("add", "ir_gate.json").exists()
    assert "speedup over torch" in one.path("report.html").read_text()
    archived = yaml.safe_load(one.path("add", "a", "r1", "shapes.yaml").read_text())
    assert (archived["shape_mode"], archived["level"]) == ("file", "core")
    [effective] = archived["effective"]["torch.float32"]
    assert "8" in effective


def test_the_amd_target_compiles_down_to_its_binary(campaign):
    sides = {"a": {}, "b": {"env": {"TRITON_DISABLE_LINE_INFO": "1"}}}
    one = campaign(ops=["softmax"], sides=sides, measure=False, target="hip:gfx942", **QUICK)
    outcome = one()
    assert outcome.code == 0, outcome.text[-3000:]
    gate = json.loads(one.path("softmax", "ir_gate.json").read_text())
    assert gate["verdict"] == "identical"
    assert list(one.path("softmax", "a", "r1", "ir").rglob("hsaco"))


FAILS_ON_SIDE_B = """
import os

import pytest


def test_fragile():
    if os.environ.get("TRITON_F32_DEFAULT") == "ieee":
        pytest.fail("the kernel is wrong on this side")
"""


def test_an_operator_that_fails_is_a_status_and_not_a_crash(campaign, tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "test_fragile.py").write_text(FAILS_ON_SIDE_B)
    sides = {"a": {}, "b": {"env": {"TRITON_F32_DEFAULT": "ieee"}}}
    both = campaign(ops=["fragile", "add"], sides=sides, suite_dirs=[str(tmp_path / "own")])
    outcome = both()
    assert outcome.code == 0, outcome.text[-3000:]
    assert statuses(both)["fragile", "b"]["status"] == "failed"
    assert statuses(both)["add", "b"]["status"] == "ok"
    verdicts = {line["op"]: line for line in json.loads(both.path("verdicts.json").read_text())["operators"]}
    assert verdicts["fragile"]["verdict"] == "REFUSED"
    assert "the kernel is wrong on this side" in " ".join(verdicts["fragile"]["reasons"])
    page = both.path("report.html").read_text()
    assert "the kernel is wrong on this side" in page
    assert both("require_accepted").code == 1


def test_a_round_that_fails_after_a_change_never_leaves_the_old_summary_standing(player, tmp_path):
    one = played(tmp_path / "work", player, rounds=1)
    assert one().code == 0
    b = one.config["sides"]["b"]
    one.config["sides"] = {
        **one.config["sides"],
        "b": {**b, "env": {**b["env"], "TRITON_F32_DEFAULT": "tf32"}},
    }
    # The round itself cannot be run: the machine-wide folder of device locks is a file.
    broken = tmp_path / "locks"
    broken.write_text("")
    for _ in range(2):
        assert one(env={"ZL_LOCK_DIR": str(broken)}).code == 1
    mended = one()
    assert mended.code == 0
    assert mended.jobs["summarise"] == 1
