"""A rule reruns when its plan changes: these say what changes which plan."""

from __future__ import annotations

import json

import pytest

from zlbench_core.campaign import default_config, load_campaign
from zlbench_core.plans import (
    preflight_plan,
    read_plan,
    record_plan,
    round_plan,
    rounds_after_gate,
    summary_plan,
)

ALL = {
    "preflight": lambda campaign: preflight_plan(campaign, "b"),
    "record": lambda campaign: record_plan(campaign, "mm"),
    "round": lambda campaign: round_plan(campaign, "mm"),
    "summary": summary_plan,
}


def load(**changes):
    return load_campaign({**default_config(), **changes})


def changed_by(**changes) -> set[str]:
    before, after = load(), load(**changes)
    return {name for name, plan in ALL.items() if plan(before) != plan(after)}


@pytest.mark.parametrize(
    ("changes", "plans"),
    [
        ({"ops": ["mm"]}, {"summary"}),
        ({"rounds": 12}, {"summary"}),
        ({"alpha": 0.01}, {"summary"}),
        ({"devices": [1]}, {"preflight", "summary"}),
        ({"time_limit": 60}, {"summary"}),
        ({"dtypes": ["float16"]}, {"record", "round", "summary"}),
        ({"measure": False}, {"record", "round", "summary"}),
        ({"level": "comprehensive"}, {"record", "round", "summary"}),
        ({"timer": "direct"}, {"record", "round", "summary"}),
        ({"protocol": "duet"}, {"round", "summary"}),
        ({"duet": {"seed": 9}}, set()),  # protocol rounds tosses no coins
        ({"target": "cuda:80"}, {"preflight", "record", "round", "summary"}),
        (
            {"sides": {"a": {}, "b": {"env": {"TRITON_F32_DEFAULT": "tf32"}}}},
            {"preflight", "round", "summary"},
        ),
        ({"sides": {"a": {"env": {"X": "1"}}, "b": {}}}, {"preflight", "record", "round", "summary"}),
    ],
)
def test_a_change_reaches_what_depends_on_it_and_no_more(changes, plans):
    assert changed_by(**changes) == plans


def test_the_content_of_the_shape_file_is_part_of_the_plan(tmp_path):
    shapes = tmp_path / "shapes.yaml"
    shapes.write_text("mm: {shapes: [[1, 8, 8, 8]]}\n")
    before = round_plan(load(shape_file=str(shapes)), "mm")
    shapes.write_text("mm: {shapes: [[1, 16, 8, 8]]}\n")
    assert round_plan(load(shape_file=str(shapes)), "mm") != before


def test_a_users_own_kernel_is_part_of_the_plan(tmp_path):
    (tmp_path / "test_mm.py").write_text("one\n")
    before = record_plan(load(suite_dirs=[str(tmp_path)]), "mm")
    (tmp_path / "test_mm.py").write_text("two\n")
    assert record_plan(load(suite_dirs=[str(tmp_path)]), "mm") != before


def test_a_step_gets_back_what_its_plan_was_made_from():
    campaign = read_plan(round_plan(load(), "mm"), time_limit=7)
    assert campaign.ops == ("mm",)
    assert campaign.declared_axis() == ["env:TRITON_F32_DEFAULT"]
    assert campaign.time_limit == 7


@pytest.mark.parametrize(
    ("verdict", "allow", "rounds"),
    [("different", False, 6), ("identical", False, 1), ("identical", True, 6), ("unknown", True, 1)],
)
def test_more_rounds_only_where_they_can_tell_something(tmp_path, verdict, allow, rounds):
    gate = tmp_path / "device-0.json"
    gate.write_text(json.dumps({"mm": verdict}))
    campaign = load(ir_gate={"allow_no_diff": allow})
    assert list(rounds_after_gate(campaign, "mm", gate)) == list(range(1, rounds + 1))
