from __future__ import annotations

import pytest

from tests.unit.caliber.plain_caliber import CALIBER
from zlbench_core.caliber.guard import (
    CALIBER_FIELDS,
    field_complaints,
    hazards,
    undeclared_differences,
)
from zlbench_core.common.files import write_json

BASE = {
    "schema_version": 1,
    "status": "complete",
    **CALIBER,
    "device_uuid": "GPU-1",
    "environment": {
        "python": "3.11.7",
        "torch": "2.13.0",
        "triton": "3.6.0",
        "precision": {"matmul_allow_tf32": False, "cudnn_allow_tf32": False},
        "variables": {"TRITON_F32_DEFAULT": "ieee"},
    },
    "measurement": {"warmup_ms": 25, "flush": "l2"},
    "replay": {"pins_digest": "aa", "fallbacks": {}},
}


@pytest.fixture
def runs(tmp_path):
    def make(changes_a=None, changes_b=None):
        for name, changes in (("a", changes_a), ("b", changes_b)):
            write_json(tmp_path / name / "run_identity.json", {**BASE, **(changes or {})})
        return [("a", tmp_path / "a"), ("b", tmp_path / "b")]

    return make


def environment(**changes):
    return {"environment": {**BASE["environment"], **changes}}


def test_equal_runs_have_no_complaint(runs):
    assert field_complaints(runs()) == []
    assert undeclared_differences(runs(), []) == []


@pytest.mark.parametrize("field", CALIBER_FIELDS)
@pytest.mark.parametrize("value", ["another", None])
def test_each_field_changed_or_null_is_refused_by_its_name(runs, field, value):
    if value and field == "direct_repeat":
        value = 2
    complaints = field_complaints(runs(None, {field: value}))
    assert len(complaints) == 1
    assert complaints[0].startswith(f"{field}:")


def test_a_field_that_both_sides_lack_is_not_equal(runs):
    assert field_complaints(runs({"timer": None}, {"timer": None}))[0].startswith("timer:")


def test_a_missing_identity_is_a_complaint(runs, tmp_path):
    given = [*runs(), ("c", tmp_path / "nowhere")]
    assert any("c: no identity" in line for line in field_complaints(given))


def test_record_against_record_is_refused_by_name(runs):
    complaints = field_complaints(runs({"autotune_mode": "record"}, {"autotune_mode": "record"}))
    assert complaints == [
        "autotune_mode: every side recorded its own winners (record against record); pin one record on both"
    ]


def test_a_record_that_pins_a_replay_is_normal(runs):
    assert field_complaints(runs({"autotune_mode": "record"}, {"autotune_mode": "replay"})) == []


def test_a_side_that_tunes_itself_against_pins_is_refused(runs):
    assert field_complaints(runs({"autotune_mode": "off"}, None))[0].startswith("autotune_mode:")


def test_two_sides_that_tuned_themselves_with_recording_off_are_refused(runs):
    tuned = {"autotune_mode": "off", "replay": {"tuned_keys": 3}}
    assert "record against record" in field_complaints(runs(tuned, tuned))[0]


def test_recording_on_a_shared_cache_is_a_hazard(runs):
    given = runs({"autotune_mode": "record", "tuner_cache": "shared(/x)"}, {"tuner_cache": "shared(/x)"})
    assert hazards(given)[0].startswith("tuner_cache: a records")
    assert hazards(runs()) == []


def test_pins_that_another_compiler_or_device_chose_are_a_hazard(runs):
    def replay(device="NVIDIA H200", triton="3.6.0"):
        compiler = {"torch": "2.13.0", "triton": triton, "triton_build": None}
        return {"replay": {**BASE["replay"], "recorded": {"device": device, "compiler": compiler}}}

    assert hazards(runs(replay(), replay())) == []
    other = {**replay(), **environment(triton="3.5.0")}
    assert hazards(runs(replay(), other)) == [], "one side has the compiler that recorded"
    assert hazards(runs(replay("NVIDIA H100", "3.5.0"), replay("NVIDIA H100", "3.5.0"))) == [
        "replay: the pins were recorded with device NVIDIA H100, which no run here has",
        "replay: the pins were recorded with compiler {'torch': '2.13.0', 'triton': '3.5.0', 'triton_build': None}, "
        "which no run here has",
    ]


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        (environment(triton="3.5.0"), "environment.triton"),
        (
            environment(precision={"matmul_allow_tf32": True, "cudnn_allow_tf32": False}),
            "environment.precision",
        ),
        (environment(variables={"TRITON_F32_DEFAULT": "tf32"}), "environment.variables.TRITON_F32_DEFAULT"),
        ({"device_uuid": "GPU-2"}, "device_uuid"),
        ({"measurement": {"warmup_ms": 25, "flush": "none"}}, "measurement.flush"),
        ({"replay": {"pins_digest": "bb", "fallbacks": {}}}, "replay.pins_digest"),
        ({"replay": {"pins_digest": "aa", "fallbacks": {"key_missing": 2}}}, "replay:"),
    ],
)
def test_a_difference_that_nobody_declared_is_named(runs, changes, name):
    complaints = undeclared_differences(runs(None, changes), [])
    assert len(complaints) == 1
    assert complaints[0].startswith(name)


def test_the_declared_variable_may_differ_and_no_other(runs):
    given = runs(None, environment(variables={"TRITON_F32_DEFAULT": "tf32", "DISABLE_LLVM_OPT": "1"}))
    complaints = undeclared_differences(given, ["env:TRITON_F32_DEFAULT"])
    assert [line.split(":")[0] for line in complaints] == ["environment.variables.DISABLE_LLVM_OPT"]


def test_a_declared_variable_may_be_the_only_one_in_force(runs):
    given = runs(environment(variables={}), None)
    assert undeclared_differences(given, ["env:TRITON_F32_DEFAULT"]) == []
    assert len(undeclared_differences(given, [])) == 1


def test_another_python_may_bring_another_triton_but_not_another_precision(runs):
    changed = environment(triton="3.5.0", precision={"matmul_allow_tf32": True, "cudnn_allow_tf32": False})
    complaints = undeclared_differences(runs(None, changed), ["python"])
    assert [line.split(":")[0] for line in complaints] == ["environment.precision.matmul_allow_tf32"]


def test_another_provider_folder_may_bring_another_commit(runs):
    given = runs({"provider_commit": "1"}, {"provider_commit": "2"})
    assert undeclared_differences(given, ["provider_dir"]) == []
    assert undeclared_differences(given, [])[0].startswith("provider_commit")


def test_what_a_duet_spent_and_lost_may_differ_and_how_it_measured_may_not(runs):
    def duet(seed, spent):
        told = {"mode": "kernel", "protocol": "duet", "duet": {"seed": seed}, "pair": {"spent_ms": spent}}
        return {"measurement": told}

    assert undeclared_differences(runs(duet(1, {"timed": 1.0}), duet(1, {"timed": 2.0})), []) == []
    (complaint,) = undeclared_differences(runs(duet(1, {}), duet(2, {})), [])
    assert complaint.startswith("measurement.duet.seed")


@pytest.mark.parametrize("value", [True, 1.0, "1", None])
def test_equal_values_of_another_type_differ(runs, value):
    [complaint] = undeclared_differences(runs({"measurement": {"n": 1}}, {"measurement": {"n": value}}), [])
    assert complaint.startswith("measurement.n: a=1, b=")


def test_a_field_that_one_run_lacks_is_as_good_as_null(runs):
    assert undeclared_differences(runs({"measurement": {"n": None}}, {"measurement": {}}), []) == []


def test_a_difference_between_two_later_runs_is_found(runs):
    (_, a), (_, b) = runs(None, {"measurement": {"n": 2}})
    found = undeclared_differences([("a r1", a), ("a r2", a), ("b r1", b)], [])
    assert [line.partition(":")[0] for line in found] == [
        "measurement.flush",
        "measurement.n",
        "measurement.warmup_ms",
    ]


@pytest.mark.parametrize("warps", [4.0, True, 8])
def test_a_key_that_was_launched_with_another_config_is_named(runs, warps):
    def used(count):
        launched = [{"kernel": "mm", "key": [64], "config": {"num_warps": count}}]
        return {"replay": {**BASE["replay"], "used": launched}}

    assert undeclared_differences(runs(used(1), used(1)), []) == []
    [complaint] = undeclared_differences(runs(used(4 if warps == 4.0 else 1), used(warps)), [])
    assert complaint.startswith("replay.used: mm [64]: a={'num_warps': ")
