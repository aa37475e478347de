from __future__ import annotations

import pytest

from tests.unit.campaign.plain_campaign import PLAIN
from zlbench_core.campaign.checks import hints, unused_keys
from zlbench_core.campaign.load import default_config, load_campaign
from zlbench_core.campaign.looks import minimum_rounds
from zlbench_core.campaign.model import Campaign
from zlbench_core.campaign.parts import Duet
from zlbench_core.campaign.schema_files import load_schema
from zlbench_core.errors import ConfigError, UnknownBackendError


def load(**changes):
    return load_campaign({**PLAIN, **changes}, source="config.yaml")


def refusal(**changes) -> str:
    with pytest.raises(ConfigError) as caught:
        load(**changes)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_the_default_campaign_is_an_ab_that_can_claim_something_of_both_operators_that_it_changes():
    campaign = load_campaign(default_config())
    assert campaign.subject.backend == "cpu"
    assert campaign.subject.side_names == ("a", "b")
    axis = campaign.subject.declared_axis()
    assert axis == ["env:SILU_BLOCK", "env:TRITON_F32_DEFAULT"]
    assert campaign.tuning.recording
    assert campaign.judgement.rounds >= minimum_rounds(campaign.judgement.alpha / len(axis))


@pytest.mark.parametrize("backend", ["cuda", "musa", "rocm"])
def test_single_keys_of_the_default_campaign_make_it_one_of_a_device(backend):
    given = {"backend": backend, "ops": ["mm"]}
    assert load_campaign({**default_config(), **given}, overrides=given).subject.backend == backend


def test_a_campaign_survives_its_json_form():
    campaign = load(suite_dirs=["own"], op_files={"mm": "blas"})
    assert Campaign.from_json(campaign.to_json()) == campaign


def test_no_two_parts_share_a_key_since_their_json_lies_side_by_side():
    campaign = load()
    parts = [vars(campaign)[name].to_json() for name in vars(campaign)]
    assert len(campaign.to_json()) == sum(map(len, parts)) == len(load_schema("config")["properties"]) - 1


@pytest.mark.parametrize("changes", [{"rounds": None}, {"more": 1}])
def test_json_with_a_key_too_few_or_too_many_is_no_campaign(changes):
    value = {**load().to_json(), **changes}
    with pytest.raises((KeyError, ValueError)):
        Campaign.from_json(
            {name: found for name, found in value.items() if found is not None or name == "more"}
        )


def test_an_alias_becomes_the_canonical_backend():
    assert load(backend="mthreads").subject.backend == "musa"


@pytest.mark.parametrize("given", ["mm", "mm,softmax"])
def test_a_bare_string_of_ops_is_a_list(given):
    assert load(ops=given).subject.ops == tuple(given.split(","))


def test_an_unknown_backend_names_the_known_ones():
    with pytest.raises(UnknownBackendError) as caught:
        load(backend="cdua")
    assert "cdua" in str(caught.value)
    assert all(name in str(caught.value) for name in ("cuda", "musa", "rocm", "ascend", "cpu"))


@pytest.mark.parametrize("op", ["../mm", "mm;rm -rf /", "mm\n", "<b>mm", "", "mm softmax"])
def test_an_op_that_is_no_name_is_refused(op):
    assert "ops" in refusal(ops=[op])


def test_a_level_beyond_the_two_is_refused_with_both_named():
    message = refusal(level="extreme")
    assert "extreme" in message
    assert "core, comprehensive" in message


def test_a_misspelt_key_gets_the_nearest_one():
    assert refusal(bakend="cpu") == "unknown key bakend in config.yaml; did you mean backend?"


def test_a_misspelt_nested_key_is_named_with_its_place():
    assert "ir_gate.alow_no_diff" in refusal(ir_gate={"alow_no_diff": True})


def test_sides_that_do_not_differ_are_refused():
    assert "do not differ" in refusal(sides={"a": {"env": {"X": "1"}}, "b": {"env": {"X": "1"}}})


def test_side_b_null_makes_a_one_sided_campaign():
    campaign = load(sides={"a": {}, "b": None})
    assert not campaign.subject.is_ab
    assert campaign.subject.declared_axis() == []


def test_sides_of_the_command_line_replace_those_of_the_file():
    given = {"sides": {"b": {"env": {"DISABLE_LLVM_OPT": "1"}}}}
    merged = {
        **PLAIN,
        "sides": {"b": {"env": {"DISABLE_LLVM_OPT": "1", "TRITON_F32_DEFAULT": "ieee"}}},
    }
    campaign = load_campaign(merged, overrides=given, source="x")
    assert campaign.subject.declared_axis() == ["env:DISABLE_LLVM_OPT"]


@pytest.mark.parametrize("name", ["ZL_BACKEND", "CUDA_VISIBLE_DEVICES", "REPLAY_FROM", "TRITON_CACHE_DIR"])
def test_a_side_may_not_set_what_zlbench_sets(name):
    assert name in refusal(sides={"a": {}, "b": {"env": {name: "1"}}})


def test_a_record_on_a_shared_cache_is_refused_in_an_ab():
    assert "inherits winners" in refusal(tuner_cache="shared:/tmp/x")


def test_devices_take_what_the_command_line_makes_of_them():
    assert load(devices=["0", "GPU-abc"]).machine.devices == (0, "GPU-abc")
    assert load(devices=2).machine.devices == (2,)


def test_devices_and_their_alias_together_are_refused():
    assert "both set" in refusal(devices=[0], gpus=[1])


def test_measure_false_needs_one_round_and_no_record():
    campaign = load(measure=False)
    assert campaign.judgement.rounds == 1
    assert campaign.tuning.recording is None


def test_a_value_of_the_wrong_type_names_what_is_expected():
    assert refusal(rounds="many") == "rounds is 'many' in config.yaml; integer is expected"


@pytest.mark.parametrize("value", [1, True, 0.5])
def test_a_variable_that_is_no_text_is_said_to_need_quotes(value):
    assert refusal(sides={"a": {}, "b": {"env": {"DISABLE_LLVM_OPT": value}}}) == (
        f'sides.b.env.DISABLE_LLVM_OPT is {value} in config.yaml; string is expected: it must be quoted, as in "1"'
    )


def env(name, value="1"):
    return {"sides": {"a": {}, "b": {"env": {name: value}}}}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (env(1), "sides.b.env in config.yaml has the key 1, which is no text"),
        (env(True), "sides.b.env in config.yaml has the key True, which is no text; numbers, dates, on, off"),
        ({"op_files": {2: "mm"}}, "op_files in config.yaml has the key 2, which is no text"),
        ({"sides": {None: {}}}, "sides in config.yaml has the key None, which is no text"),
        (env("X", "a\0b"), "sides.b.env.X is 'a\\x00b' in config.yaml; a text without NUL is expected"),
        (env(""), "sides.b.env in config.yaml sets the variable ''; a name without ="),
        (env("A=B"), "sets the variable 'A=B'"),
        (env("A "), "sets the variable 'A '"),
        ({"delta": float("nan")}, "delta is nan in config.yaml; a finite number is expected"),
        (
            {"duet": {"patience": float("inf")}},
            "duet.patience is inf in config.yaml; a finite number is expected",
        ),
        ({"alpha": 1e-15}, "alpha in config.yaml is 1e-15; a level between 2^-30 and 0.5 is expected"),
        ({"time_limit": 10**30}, "at most 31536000 is expected"),
        ({"rounds": 0}, "rounds is 0 in config.yaml; at least 1 is expected"),
        ({"ops": []}, "ops is [] in config.yaml; at least 1 item is expected"),
        ({"ops": ["mm", "add", "mm"]}, "'mm' may stand there once"),
        ({"ops": {"mm": None}}, "list is expected"),
        ({"backend": ""}, "backend is '' in config.yaml; a text of at least 1 character is expected"),
        ({"sides": {"a": {}, "b": {"python": ""}}}, "sides.b.python is ''"),
        ({"sides": {"a": {}, "b": []}}, "sides.b is [] in config.yaml; mapping or null is expected"),
        ({"placebo": {"ops": "mm"}}, "placebo.ops is 'mm' in config.yaml; identical or list is expected"),
        (
            {"placebo": {"rounds": "x: y: z"}},
            "placebo.rounds is 'x: y: z' in config.yaml; integer is expected",
        ),
        ({"autotune": {"shards": "[1"}}, "autotune.shards is '[1' in config.yaml; integer is expected"),
        ({"autotune": {"mode": False}}, 'allowed are replay, off: it must be quoted, as in "off"'),
        (
            {"autotune": {"mode": "off", "from": "pins"}},
            "autotune.from in config.yaml: mode 'off' replays no pins",
        ),
        ({"devices": True}, "devices is True in config.yaml; list is expected"),
        ({"devices": {}}, "devices is {} in config.yaml; list is expected"),
        ({"devices": [-1]}, "devices.0 is -1 in config.yaml; at least 0 is expected"),
        ({"devices": ["", "0"]}, "devices.0 is '' in config.yaml"),
        ({"devices": "0, 0"}, "0 may stand there once"),
        ({"r\u202eounds": 1}, "unknown key r\\u202eounds in config.yaml; did you mean rounds?"),
        ({"k" * 500: 1}, "kkk... in config.yaml"),
    ],
)
def test_what_yaml_takes_and_no_campaign_can_mean_is_refused_where_it_stands(changes, told):
    assert told in refusal(**changes)


def test_an_anchor_with_an_alias_inside_it_is_refused():
    ring: dict = {"env": {}}
    ring["env"]["X"] = ring
    assert "is nested too deeply" in refusal(sides={"a": {}, "b": ring})


def test_numbers_and_texts_that_yaml_writes_otherwise_mean_the_same():
    campaign = load(
        warmup=5.0, iter=7.0, devices=" 1, GPU-a", ops="mm, softmax", autotune={"compile_threads": 2.0}
    )
    assert (campaign.machine.devices, campaign.subject.ops) == ((1, "GPU-a"), ("mm", "softmax"))
    whole = (campaign.timing.warmup, campaign.timing.iter, campaign.tuning.autotune.compile_threads)
    assert whole == (5, 7, 2)
    assert {type(number) for number in whole} == {int}
    assert load(devices="\u00b2").machine.devices == ("\u00b2",)  # a digit to Python, a number to nobody


def test_a_home_folder_may_be_named_by_its_sign(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ann")
    campaign = load(suite_dirs=["~/own"], sides={"a": {}, "b": {"python": "~/venv/bin/python"}})
    assert campaign.subject.suite_dirs == ("/home/ann/own",)
    assert campaign.subject.side("b").python == "/home/ann/venv/bin/python"


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"duet": {"superblocks": 5}}, ["duet is set, and protocol is rounds: nothing of it is used"]),
        ({"duet": {"superblocks": 5}, "protocol": "duet"}, []),
        ({"duet": {"superblocks": 5}, "measure": False}, []),
        (
            {"placebo": {"ops": "identical"}, "sides": {"a": {}, "b": None}},
            ["placebo.ops is set, and side b is null: no placebo is timed"],
        ),
        (
            {"placebo": {"ops": ["mm"]}, "measure": False},
            ["placebo.ops is set, and measure is false: no placebo is timed"],
        ),
        ({"placebo": {"ops": ["mm"]}}, []),
    ],
)
def test_a_key_that_the_campaign_has_no_use_for_is_told(config, told):
    assert unused_keys(load(**config), config) == told


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"target": "cuda:9O"},
            "target is 'cuda:9O' in config.yaml; allowed is for example cuda:90 or hip:gfx942",
        ),
        ({"ops": ["../mm"]}, "allowed is for example softmax or vector-add"),
        ({"op_files": {"mm": "a/b"}}, "allowed is for example vector-add"),
        ({"tuner_cache": "shared"}, "allowed is for example isolated or shared:/var/cache/zlbench"),
    ],
)
def test_a_value_of_another_form_gets_an_example_and_no_pattern(changes, told):
    message = refusal(**changes)
    assert told in message
    assert "^" not in message


def test_an_op_file_for_an_op_that_is_not_asked_for_is_refused():
    assert "scale" in refusal(op_files={"scale": "mm"})


def test_too_few_rounds_are_told_before_they_are_run():
    assert hints(load(ops=["mm"], rounds=5)) == [
        "rounds 5 can claim nothing at alpha 0.05; at least 6 are needed"
    ]
    assert hints(load(ops=["mm"], rounds=6)) == []
    assert "at least 8" in hints(load(rounds=6, alpha=0.01))[0]
    assert hints(load(rounds=1, measure=False)) == []


def test_the_duet_is_there_only_where_it_is_asked_for_and_something_is_timed():
    assert load().timing.duet is None
    asked = {"protocol": "duet", "duet": {"superblocks": "8", "seed": 3}}
    assert load(**asked).timing.duet == Duet(
        superblocks=8, block_ms=4.0, discard=4, warm_up=6, seed=3, patience=600.0
    )
    assert load(**asked, measure=False).timing.duet is None
    assert Campaign.from_json(load(**asked).to_json()) == load(**asked)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sides": {"a": {}, "b": None}}, "side b is null"),
        ({"mode": "operator"}, "kernel or cudagraph is allowed"),
        ({"direct_repeat": 3}, "direct_repeat 3"),
        ({"backend": "ascend"}, "backend ascend"),
    ],
)
def test_a_duet_that_cannot_be_is_refused_in_one_line(changes, words):
    message = refusal(protocol="duet", **changes)
    assert message.startswith("protocol 'duet' in config.yaml: ")
    assert words in message


def test_a_one_sided_campaign_that_measures_nothing_may_name_the_duet():
    assert load(protocol="duet", measure=False, sides={"a": {}, "b": None}).timing.duet is None


@pytest.mark.parametrize(
    "section", [{"superblocks": 1}, {"discard": 0}, {"block_ms": 0}, {"patience": -1}, {"coin": 1}]
)
def test_a_value_that_the_duet_does_not_know_is_refused(section):
    assert "duet" in refusal(protocol="duet", duet=section)
