"""Placebos through the whole chain: what noise, a bias and a drift of one side make of a campaign."""

from __future__ import annotations

import csv
import json

import pytest

from zlbench_core.errors import CaliberMismatch, ConfigError
from zlbench_core.judge.accept import require_accepted
from zlbench_core.judge.look import first_look
from zlbench_core.judge.show import show_campaign
from zlbench_core.judge.summary import summarise
from zlbench_core.verdicts import Verdict

ROUNDS = 6
WOBBLE = (0.0004, -0.0003, 0.0001, -0.0004, 0.0003, -0.0001)
PLACEBOS = ("p1", "p2")
CLAIMS = (Verdict.FASTER, Verdict.SLOWER)


@pytest.fixture
def measured(real_runs, make_campaign):
    """A campaign of one changed operator and two placebos; `b_over_a(round)` is the true ratio of all of them."""

    def measure(b_over_a, **config):
        campaign = make_campaign(
            **{"ops": ["changed", *PLACEBOS], "placebo": {"ops": "identical", "rounds": ROUNDS}, **config}
        )
        for op in campaign.subject.ops:
            for number in range(1, ROUNDS + 1):
                ms = 20.0 * (1 + WOBBLE[(number + len(op)) % ROUNDS])
                real_runs.add(op, "a", number, 20.0, "code")
                code = "code" if op in PLACEBOS else "other code"
                real_runs.add(op, "b", number, ms * b_over_a(number), code)
        gates = [real_runs.gate(op) for op in campaign.subject.ops]
        summarise(campaign, real_runs.folders(), gates, real_runs.root)
        return json.loads((real_runs.root / "verdicts.json").read_text())

    return measure


def verdicts(found) -> dict[str, str]:
    return {operator["op"]: operator["verdict"] for operator in found["operators"]}


def test_placebos_of_a_fair_campaign_leave_its_verdicts_standing(measured, real_runs):
    found = measured(lambda number: 1.0)
    assert found["void"] is None
    assert found["placebos"] | {"level": None} == {
        "measured": 2,
        "usable": 2,
        "claims": 0,
        "detected": 0,
        "allowed": 1,
        "alarm": False,
        "alpha": 0.05,
        "level": None,
    }
    assert verdicts(found) == {"changed": "SAME", "p1": "NO CODE CHANGE", "p2": "NO CODE CHANGE"}
    with (real_runs.root / "ab.csv").open(newline="") as stream:
        assert {line["op"] for line in csv.DictReader(stream)} == {"changed"}


def test_a_bias_of_one_side_makes_the_whole_campaign_void(measured, real_runs):
    found = measured(lambda number: 1.02)
    assert found["void"].startswith("placebo alarm: 2 of 2 operators with identical code would be claimed")
    assert verdicts(found)["changed"] == "VOID"
    assert all(operator["evidence"] is None for operator in found["operators"])
    for name in ("ab.csv", "summary.csv"):
        with (real_runs.root / name).open(newline="") as stream:
            assert list(csv.DictReader(stream)) == []
    assert "!!! VOID, and nothing of it may be quoted: placebo alarm" in show_campaign(real_runs.root)
    with pytest.raises(CaliberMismatch, match="VOID: placebo alarm"):
        require_accepted(real_runs.root / "verdicts.json")


def test_the_same_bias_without_placebos_is_believed(measured):
    found = measured(lambda number: 1.02, placebo={"ops": []})
    assert verdicts(found)["changed"] == "SLOWER"
    assert found["placebos"]["measured"] == 0


@pytest.mark.parametrize("drift", [0.01, -0.05])
@pytest.mark.parametrize("placebo", [{"ops": "identical", "rounds": ROUNDS}, {"ops": []}])
def test_a_drift_of_one_side_alone_is_never_a_claim(measured, drift, placebo):
    found = measured(lambda number: 1 + drift * number / ROUNDS, placebo=placebo)
    assert verdicts(found)["changed"] in ("UNDECIDED", "VOID")
    assert not [
        row for operator in found["operators"] for row in operator["rows"] if row["verdict"] in CLAIMS
    ]


def test_a_drift_of_five_percent_is_named(measured):
    found = measured(lambda number: 1 + 0.05 * number / ROUNDS, placebo={"ops": []})
    assert "over the rounds: not stationary" in found["operators"][0]["detail"]


def test_only_the_named_operators_are_placebos(measured, real_runs):
    found = measured(lambda number: 1.0, placebo={"ops": ["p2"], "rounds": ROUNDS})
    placebos = {operator["op"]: operator["placebo"] is not None for operator in found["operators"]}
    assert placebos == {"changed": False, "p1": False, "p2": True}


def test_the_first_look_is_the_same_function_of_the_same_files(measured, real_runs, make_campaign):
    measured(lambda number: 1.02, placebo={"ops": []})
    campaign = make_campaign(ops=["changed"], stopping="two-looks")
    runs = [folder for folder in real_runs.folders() if folder.parts[2] == "changed"]
    for name in ("one.json", "two.json"):
        first_look(campaign, runs, [real_runs.gate("changed")], 1, real_runs.root / name)
    assert (real_runs.root / "one.json").read_bytes() == (real_runs.root / "two.json").read_bytes()
    assert json.loads((real_runs.root / "one.json").read_text())["rounds"] == {"changed": 6}


def test_placebo_rounds_that_could_claim_nothing_are_refused(make_campaign):
    with pytest.raises(ConfigError, match=r"placebo\.rounds is 3"):
        make_campaign(placebo={"ops": "identical", "rounds": 3})
    with pytest.raises(ConfigError, match="names softmax, which is not among ops"):
        make_campaign(placebo={"ops": ["softmax"]})
