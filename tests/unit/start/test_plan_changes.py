"""What a user is told of a plan that changed: which key, from what, to what."""

from __future__ import annotations

import json

import pytest
import yaml

from tests import ROOT
from zlbench_core.campaign.load import default_config, load_campaign
from zlbench_core.campaign.schema_files import check
from zlbench_core.errors import ZlbenchError
from zlbench_core.run import facts
from zlbench_core.run.facts import forget_facts
from zlbench_core.run.plans import gate_plan, round_plan, summary_plan
from zlbench_core.start.plan_changes import PlanChanges

PROFILES = sorted((ROOT / "workflow" / "profiles").glob("*/profile.yaml"))


BASE = {"ops": ["mm"], "rounds": 6, "sides": {"a": {}, "b": {"env": {"TRITON_F32_DEFAULT": "ieee"}}}}


def load(**changes):
    return load_campaign({**default_config(), **BASE, **changes})


@pytest.fixture
def changed(tmp_path):
    """What changed from the default campaign, which was run, to another, as a later start tells it."""
    path = tmp_path / "plans.json"

    def of(before: str, after: str) -> str:
        first = PlanChanges(path)
        gone = set(first.tokens_of(before).values())
        first.save()
        second = PlanChanges(path)
        new = set(second.tokens_of(after).values())
        return second.change(gone - new, new - gone)

    return of


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"rounds": 12}, "rounds: 6 -> 12"),
        ({"alpha": 0.01, "dtypes": ["float16"]}, 'alpha: 0.05 -> 0.01, dtypes: ["float32"] -> ["float16"]'),
        ({"placebo": {"ops": ["mm"]}}, 'placebo.ops: [] -> ["mm"]'),
        (
            {"sides": {"a": {}, "b": {"env": {"TRITON_F32_DEFAULT": "tf32"}}}},
            "side b: env.TRITON_F32_DEFAULT: ieee -> tf32",
        ),
        (
            {"sides": {"a": {}, "b": {"env": {"TRITON_F32_DEFAULT": "ieee", "X": "1"}}}},
            "side b: env.X: nothing -> 1",
        ),
        ({"autotune": {"mode": "off"}}, "autotune.mode: replay -> off"),
        ({"autotune": {"shards": 2}}, "autotune.shards: 1 -> 2"),
        (
            {"rounds": 7, "alpha": 0.01, "time_limit": 9, "policy": "survey", "iter": 3, "warmup": 2},
            "alpha: 0.05 -> 0.01, iter: null -> 3, policy: gate -> survey, rounds: 6 -> 7, 2 more",
        ),
    ],
)
def test_each_key_that_changed_is_named_with_both_values(changed, changes, told):
    assert changed(summary_plan(load()), summary_plan(load(**changes))) == told


def test_another_compiler_and_other_sources_are_told_apart_from_the_campaign(changed, monkeypatch):
    before = round_plan(load(), "mm")
    monkeypatch.setattr(facts, "measuring_sources", lambda: "0" * 16)
    assert changed(before, round_plan(load(), "mm")) == "the sources of zlbench changed"
    monkeypatch.undo()
    forget_facts()
    monkeypatch.setattr(facts, "_packages", lambda python: {"torch": ["t"], "triton": ["triton-9"]})
    assert 'side a: torch: ["' in changed(before, round_plan(load(), "mm"))
    forget_facts()


def test_jobs_that_run_again_for_one_change_share_a_line(tmp_path):
    changes = PlanChanges(tmp_path / "plans.json")
    old, new = (changes.tokens_of(round_plan(load(dtypes=[dtype]), "mm")) for dtype in ("float32", "float16"))
    gates = [
        changes.token("rounds", gate_plan(load(dtypes=[dtype]), ["mm"])) for dtype in ("float32", "float16")
    ]
    jobs = [("replay_round", [old["campaign"]], [new["campaign"]])] * 3
    lines = changes.lines([("compare_ir", *jobs[0][1:]), ("gate_device", [gates[0]], [gates[1]]), *jobs])
    assert lines == [
        'compare_ir, replay_round (3) again, since dtypes: ["float32"] -> ["float16"]',
        "gate_device again, since the rounds of mm",
    ]


@pytest.mark.parametrize("content", [None, "", "[]", '{"parts": [1]}', "{" * 99999])
def test_what_is_not_known_any_more_is_said_to_be_so(tmp_path, content):
    path = tmp_path / "plans.json"
    if content is not None:
        path.write_text(content)
    changes = PlanChanges(path)
    new = changes.tokens_of(summary_plan(load()))["campaign"]
    assert changes.change(["campaign=0123456789ab"], [new]) == "campaign changed, and what it was is not kept"
    assert changes.change(['{"a plan": "of an earlier version"}'], [new]) == (
        "its plan changed, and what it was is not kept"
    )
    changes.save()
    assert len(json.loads(path.read_text())["parts"]) >= 4


def test_the_file_keeps_what_is_asked_now_and_a_bounded_past(tmp_path, monkeypatch):
    monkeypatch.setattr("zlbench_core.start.plan_changes._KEPT", 7)
    path = tmp_path / "plans.json"
    for rounds in range(6, 16):
        changes = PlanChanges(path)
        tokens = changes.tokens_of(summary_plan(load(rounds=rounds)))
        changes.save()
    written = json.loads(path.read_text())
    check(written, "plans", str(path), ZlbenchError)
    found = [entry["token"] for entry in written["parts"]]
    assert set(found[: len(tokens)]) == set(tokens.values())
    assert len(found) == len(tokens) + 7
    assert [entry["part"]["rounds"] for entry in written["parts"] if "rounds" in entry["part"]] == [
        15,
        *range(14, 7, -1),
    ]


@pytest.mark.parametrize("profile", PROFILES, ids=lambda path: path.parent.name)
def test_no_shipped_profile_takes_a_touched_script_for_a_change(profile):
    triggers = yaml.safe_load(profile.read_text())["rerun-triggers"]
    assert sorted(triggers) == ["input", "mtime", "params", "software-env"]
