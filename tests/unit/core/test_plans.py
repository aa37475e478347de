"""A rule reruns when its plan changes: these say what changes which plan."""

from __future__ import annotations

import json
import os

import pytest
from plain_campaign import PLAIN

from zlbench_core.backends.cpu import CpuBackend
from zlbench_core.campaign.family import rounds_after_gate, rounds_after_look
from zlbench_core.campaign.model import load_campaign
from zlbench_core.campaign.plan_text import read_plan
from zlbench_core.run.facts import forget_facts
from zlbench_core.run.plans import (
    look_plan,
    preflight_name,
    preflight_plan,
    record_plan,
    round_plan,
    summary_plan,
)

ALL = {
    "preflight": lambda campaign: preflight_plan(campaign, "b"),
    "record": lambda campaign: record_plan(campaign, "mm"),
    "round": lambda campaign: round_plan(campaign, "mm"),
    "summary": summary_plan,
}


def load(**changes):
    return load_campaign({**PLAIN, **changes})


def changed_by(**changes) -> set[str]:
    before, after = load(), load(**changes)
    return {name for name, plan in ALL.items() if plan(before) != plan(after)}


@pytest.mark.parametrize(
    ("changes", "plans"),
    [
        ({"ops": ["mm"]}, {"summary"}),
        ({"rounds": 12}, {"summary"}),
        ({"alpha": 0.01}, {"summary"}),
        ({"stopping": "two-looks"}, {"summary"}),
        ({"placebo": {"ops": "identical"}}, {"summary"}),
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


def test_another_driver_is_preflights_business_whose_file_is_then_written_again(monkeypatch):
    before = {name: plan(load()) for name, plan in ALL.items()}
    names = {preflight_name(load(), side) for side in "ab"}
    monkeypatch.setattr(CpuBackend, "driver_version", lambda self: "another")
    assert {name for name, plan in ALL.items() if plan(load()) != before[name]} == {"preflight", "summary"}
    assert {preflight_name(load(), side) for side in "ab"} == names


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"ops": ["mm"], "rounds": 12, "dtypes": ["float16"], "timer": "direct"}, True),
        ({"devices": [1]}, False),
        ({"sides": {"a": {}, "b": {"env": {"TRITON_F32_DEFAULT": "tf32"}}}}, False),
    ],
)
def test_a_preflight_is_named_by_what_is_asked_of_it(changes, same):
    assert (preflight_name(load(**changes), "b") == preflight_name(load(), "b")) == same
    assert preflight_name(load(**changes), "b").startswith("b-")


def test_the_content_of_the_shape_file_is_part_of_the_plan(tmp_path):
    shapes = tmp_path / "shapes.yaml"
    shapes.write_text("mm: {shapes: [[1, 8, 8, 8]]}\n")
    before = round_plan(load(shape_file=str(shapes)), "mm")
    shapes.write_text("mm: {shapes: [[1, 16, 8, 8]]}\n")
    forget_facts()
    assert round_plan(load(shape_file=str(shapes)), "mm") != before


def test_a_compiler_that_is_rebuilt_in_place_is_part_of_the_plan_though_its_version_stays(tmp_path):
    packages = tmp_path / "lib" / "python3.12" / "site-packages"
    library = packages / "triton" / "_C" / "libtriton.so"
    library.parent.mkdir(parents=True)
    (packages / "triton-3.6.0.dist-info").mkdir()
    sides = {"a": {"python": str(tmp_path / "bin" / "python")}, "b": {}}
    plans = set()
    for content, when in (("one", 1), ("other", 1), ("other", 2), ("other", 2)):
        library.write_text(content)
        os.utime(library, (when, when))
        forget_facts()
        plans.add(round_plan(load(sides=sides), "mm"))
    assert len(plans) == 3, "another size, another time, and once the same again"


def test_a_users_own_kernel_is_part_of_the_plan(tmp_path):
    (tmp_path / "test_mm.py").write_text("one\n")
    before = record_plan(load(suite_dirs=[str(tmp_path)]), "mm")
    (tmp_path / "test_mm.py").write_text("two\n")
    forget_facts()
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


@pytest.mark.parametrize(
    ("verdict", "config", "rounds"),
    [
        ("identical", {"placebo": {"ops": "identical", "rounds": 8}}, 8),
        ("identical", {"placebo": {"ops": ["softmax"], "rounds": 8}}, 1),
        ("different", {"placebo": {"ops": "identical", "rounds": 8}}, 6),
        ("unknown", {"placebo": {"ops": "identical", "rounds": 8}}, 1),
        ("identical", {"placebo": {"ops": "identical", "rounds": 8}, "ir_gate": {"allow_no_diff": True}}, 6),
    ],
)
def test_only_unchanged_operators_are_placebos(tmp_path, verdict, config, rounds):
    gate = tmp_path / "device-0.json"
    gate.write_text(json.dumps({"mm": verdict}))
    assert len(rounds_after_gate(load(**config), "mm", gate)) == rounds


@pytest.mark.parametrize(("changed", "first"), [(1, 6), (2, 7), (10, 9)])
def test_the_first_look_is_planned_for_what_changed_on_all_devices(tmp_path, changed, first):
    gates = [tmp_path / f"device-{slot}.json" for slot in range(2)]
    gates[0].write_text(json.dumps({"mm": "different", "softmax": "identical"}))
    gates[1].write_text(json.dumps({f"op{number}": "different" for number in range(changed - 1)}))
    campaign = load(stopping="two-looks", rounds=3)
    assert list(rounds_after_gate(campaign, "mm", *gates)) == list(range(1, first + 1))
    assert list(rounds_after_gate(campaign, "softmax", *gates)) == [1]


def test_the_rounds_after_the_look_are_those_that_it_wrote_down(tmp_path):
    look = tmp_path / "device-0.json"
    look.write_text(json.dumps({"rounds": {"mm": 12, "softmax": 1}}))
    assert len(rounds_after_look(look, "mm")) == 12
    assert len(rounds_after_look(look, "softmax")) == 1


def test_a_look_depends_on_the_operators_of_its_device_alone():
    campaign = load(stopping="two-looks", placebo={"ops": ["mm", "softmax"]})
    before = look_plan(campaign, ["mm"])
    assert (
        look_plan(
            load(stopping="two-looks", placebo={"ops": ["mm", "softmax"]}, ops=["mm", "softmax"]), ["mm"]
        )
        == before
    )
    assert look_plan(load(stopping="two-looks", placebo={"ops": ["mm"]}, policy="survey"), ["mm"]) != before
    assert read_plan(before).placebo.ops == ("mm",)
