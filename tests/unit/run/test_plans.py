"""A rule reruns when its plan changes: these say what changes which plan."""

from __future__ import annotations

import json
import os

import pytest

from tests.unit.campaign.plain_campaign import PLAIN
from zlbench_core.backends.cpu import CpuBackend
from zlbench_core.campaign.family import rounds_after_gate, rounds_after_look
from zlbench_core.campaign.load import load_campaign
from zlbench_core.campaign.model import LookAsked, RoundAsked
from zlbench_core.campaign.plan_text import read_plan
from zlbench_core.campaign.schema_files import load_schema
from zlbench_core.errors import ConfigError
from zlbench_core.run.facts import forget_facts
from zlbench_core.run.plans import (
    compare_plan,
    look_plan,
    preflight_name,
    preflight_plan,
    record_plan,
    round_plan,
    summary_plan,
)

ALL = {
    "preflight": lambda campaign: preflight_plan(campaign, "a"),
    "record": lambda campaign: record_plan(campaign, "mm") if campaign.tuning.recording else None,
    "round": lambda campaign: round_plan(campaign, "mm"),
    "compare": lambda campaign: compare_plan(campaign, "mm"),
    "look": lambda campaign: look_plan(campaign, ["mm"]),
    "summary": summary_plan,
}
JUDGES = {"look", "summary"}
ROUNDS = {"round", "compare", *JUDGES}  # what comes after a round
MEASURES = {"record", *ROUNDS}
EVERY = {"preflight", *MEASURES}

DUET = {"protocol": "duet"}
OFF = {"autotune": {"mode": "off"}}
COMPILES = {"measure": False}
ONE_SIDED = {"sides": {"a": {}, "b": None}}


def load(**changes):
    return load_campaign({**PLAIN, **changes})


def changed_by(before: dict, after: dict) -> set[str]:
    before, after = load(**before), load(**before | after)
    return {name for name, plan in ALL.items() if plan(before) != plan(after)}


def of_sides(**changes):
    """One side of the plain campaign changed, `a` or `b`; they go on to differ."""
    return {
        "sides": {
            **PLAIN["sides"],
            **{name: {**PLAIN["sides"][name], **side} for name, side in changes.items()},
        }
    }


# By key of the schema: another value for it, the plans that must change, and what else the campaign says.
KEYS = {
    "backend": ({"backend": "musa"}, EVERY),
    "target": ({"target": "cuda:80"}, EVERY),
    "provider": ({"provider": "flaggems"}, EVERY),
    "flaggems_dir": ({"flaggems_dir": "/gone"}, EVERY),
    "suite_dirs": ({"suite_dirs": ["/gone"]}, MEASURES),
    "ops": ({"ops": ["mm"]}, {"summary"}),
    "op_files": ({"op_files": {"mm": "blas"}}, MEASURES),
    "level": ({"level": "comprehensive"}, MEASURES),
    "mode": ({"mode": "operator"}, MEASURES),
    "dtypes": ({"dtypes": ["float16"]}, MEASURES),
    "shape_file": ({"shape_file": "/gone"}, MEASURES),
    "warmup": ({"warmup": 1}, MEASURES),
    "iter": ({"iter": 1}, MEASURES),
    "devices": ({"devices": [1]}, {"preflight", "summary"}),
    "sides.a.env": (of_sides(a={"env": {"X": "1"}}), EVERY),
    "sides.a.python": (of_sides(a={"python": "/gone"}), EVERY),
    "sides.a.flaggems_dir": (of_sides(a={"flaggems_dir": "/gone"}), EVERY),
    "sides.b.env": (of_sides(b={"env": {"X": "1"}}), ROUNDS),
    "sides.b.python": (of_sides(b={"python": "/gone"}), ROUNDS),
    "sides.b.flaggems_dir": (of_sides(b={"flaggems_dir": "/gone"}), ROUNDS),
    "rounds": ({"rounds": 12}, JUDGES),
    "stopping": ({"stopping": "two-looks"}, JUDGES),
    "placebo.ops": ({"placebo": {"ops": "identical"}}, JUDGES),
    "placebo.rounds": ({"placebo": {"rounds": 7}}, JUDGES),
    "protocol": (DUET, ROUNDS),
    "duet.superblocks": ({"duet": {"superblocks": 5}}, ROUNDS, DUET),
    "duet.block_ms": ({"duet": {"block_ms": 5}}, ROUNDS, DUET),
    "duet.discard": ({"duet": {"discard": 5}}, ROUNDS, DUET),
    "duet.warm_up": ({"duet": {"warm_up": 5}}, ROUNDS, DUET),
    "duet.seed": ({"duet": {"seed": 5}}, ROUNDS, DUET),
    "duet.patience": ({"duet": {"patience": 5}}, ROUNDS, DUET),
    "timer": ({"timer": "direct"}, MEASURES),
    "direct_repeat": ({"direct_repeat": 2}, MEASURES),
    "autotune.mode": (OFF, MEASURES),
    "autotune.record_side": ({"autotune": {"record_side": "b"}}, MEASURES),
    "autotune.shards": ({"autotune": {"shards": 2}}, MEASURES),
    "autotune.from": ({"autotune": {"from": "/gone"}}, MEASURES),
    "autotune.compile_threads": ({"autotune": {"compile_threads": 2}}, MEASURES),
    "autotune.compile_pool": ({"autotune": {"compile_pool": "threads"}}, MEASURES),
    "autotune.early_drop": ({"autotune": {"early_drop": False}}, MEASURES),
    "tuner_cache": ({"tuner_cache": "shared:/gone"}, MEASURES, ONE_SIDED),
    "ir_gate.allow_no_diff": ({"ir_gate": {"allow_no_diff": True}}, JUDGES),
    "measure": (COMPILES, MEASURES),
    "time_limit": ({"time_limit": 60}, {"summary"}),
    "alpha": ({"alpha": 0.01}, JUDGES),
    "delta": ({"delta": 0.01}, JUDGES),
    "policy": ({"policy": "survey"}, JUDGES),
    "allow_caliber_mismatch": ({"allow_caliber_mismatch": True}, JUDGES),
}


def keys_of(schema: dict, path: str = "") -> list[str]:
    """Every key that holds a value, in the schema of a configuration."""
    side = load_schema("config")["$defs"]["side"]
    choices = [schema, *schema.get("anyOf", [])]
    mappings = [side if "$ref" in one else one for one in choices if "$ref" in one or "properties" in one]
    if not mappings:
        return [path]
    return [
        key
        for mapping in mappings
        for name, sub in mapping["properties"].items()
        for key in keys_of(sub, f"{path}.{name}".lstrip("."))
    ]


def test_every_key_of_the_schema_has_its_case():
    assert sorted(keys_of(load_schema("config"))) == sorted(KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_a_key_reaches_what_depends_on_it_and_no_more(key):
    change, plans, *others = KEYS[key]
    assert changed_by(others[0] if others else {}, change) == plans


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"duet": {"seed": 9}}),  # protocol rounds tosses no coins
        (COMPILES, DUET),
        (COMPILES, {"rounds": 12}),
        (COMPILES, {"stopping": "two-looks"}),
        (COMPILES, {"autotune": {"shards": 2}}),
        (OFF, {"autotune": {"mode": "off", "shards": 2, "early_drop": False}}),
        (ONE_SIDED, {"stopping": "two-looks"}),
    ],
)
def test_what_a_campaign_has_no_use_for_is_in_no_plan(before, after):
    assert changed_by(before, after) == set()


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


@pytest.mark.parametrize("changes", [OFF, COMPILES, {"autotune": {"from": "/gone"}}])
def test_a_record_that_nobody_makes_has_no_plan_and_that_is_said_in_one_line(changes):
    with pytest.raises(ConfigError, match="this campaign records no pins of mm: "):
        record_plan(load(**changes), "mm")


def test_a_step_gets_back_what_its_plan_was_made_from():
    asked = read_plan(round_plan(load(), "mm"), RoundAsked)
    assert asked == load().round_of("mm")
    assert asked.subject.ops == ("mm",)
    assert asked.subject.declared_axis() == ["env:TRITON_F32_DEFAULT"]


@pytest.mark.parametrize(
    ("verdict", "allow", "rounds"),
    [("different", False, 6), ("identical", False, 1), ("identical", True, 6), ("unknown", True, 1)],
)
def test_more_rounds_only_where_they_can_tell_something(tmp_path, verdict, allow, rounds):
    gate = tmp_path / "device-0.json"
    gate.write_text(json.dumps({"mm": verdict}))
    campaign = load(ir_gate={"allow_no_diff": allow})
    assert list(rounds_after_gate(campaign.judgement, "mm", gate)) == list(range(1, rounds + 1))


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
    assert len(rounds_after_gate(load(**config).judgement, "mm", gate)) == rounds


@pytest.mark.parametrize(("changed", "first"), [(1, 6), (2, 7), (10, 9)])
def test_the_first_look_is_planned_for_what_changed_on_all_devices(tmp_path, changed, first):
    gates = [tmp_path / f"device-{slot}.json" for slot in range(2)]
    gates[0].write_text(json.dumps({"mm": "different", "softmax": "identical"}))
    gates[1].write_text(json.dumps({f"op{number}": "different" for number in range(changed - 1)}))
    campaign = load(stopping="two-looks", rounds=3)
    assert list(rounds_after_gate(campaign.judgement, "mm", *gates)) == list(range(1, first + 1))
    assert list(rounds_after_gate(campaign.judgement, "softmax", *gates)) == [1]


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
    assert read_plan(before, LookAsked).judgement.placebo.ops == ("mm",)
