"""Campaigns that share a working folder: coming back to one measures what another replaced, and nothing else."""

from __future__ import annotations

from .conftest import Campaign, Outcome
from .played import copy_of, started


def with_env(campaign: Campaign, **changes: str) -> Campaign:
    """The same campaign but for the variables of side b."""
    sides = campaign.config["sides"]
    b = {**sides["b"], "env": {**sides["b"]["env"], **changes}}
    return Campaign(campaign.folder, **{**campaign.config, "sides": {**sides, "b": b}})


def said(outcome: Outcome) -> list[str]:
    """What the start said of runs that it will replace."""
    return [line for line in outcome.err.splitlines() if "replaces" in line]


def measured(campaign: Campaign, before: dict[str, str]) -> set[str]:
    return {run for run, when in started(campaign).items() if before.get(run) != when}


def test_coming_back_to_a_campaign_measures_what_another_replaced_and_nothing_else(finished, tmp_path):
    first = copy_of(finished, tmp_path / "copy", rounds=3)
    outcome = first()
    assert (outcome.code, said(outcome)) == (0, []), "more rounds of the same campaign replace nothing"
    before = started(first)
    second = with_env(Campaign(first.folder, **{**first.config, "rounds": 1}), TRITON_F32_DEFAULT="tf32")
    outcome = second()
    assert outcome.code == 0, outcome.text[-3000:]
    assert outcome.jobs["check_side"] == 1, "side a is as it was"
    assert measured(second, before) == {"add/a/r1", "add/b/r1"}
    told = "2 finished runs that another campaign or another version of zlbench made (add)"
    assert said(outcome) == [f"zlbench: this campaign replaces {told}; --directory FOLDER keeps both"]
    assert said(second()) == [], "its own"
    assert said(first("-n")) == [], "a dry run replaces nothing"
    between = started(first)
    outcome = first()
    assert outcome.code == 0, outcome.text[-3000:]
    assert "check_side" not in outcome.jobs
    assert measured(first, between) == {"add/a/r1", "add/b/r1"}
    assert [told in line for line in said(outcome)] == [True]
    outcome = first()
    assert (outcome.jobs, said(outcome)) == ({}, [])


def test_a_campaign_of_another_operator_and_another_side_costs_the_first_no_measurement(finished, tmp_path):
    first = copy_of(finished, tmp_path / "copy")
    other = Campaign(first.folder, **{**first.config, "ops": ["softmax"], "autotune": {"mode": "off"}})
    assert with_env(other, TRITON_F32_DEFAULT="tf32")().code == 0
    before = started(first)
    outcome = first()
    assert outcome.code == 0, outcome.text[-3000:]
    assert outcome.jobs.keys() <= {"gate_device", "summarise", "report", "all"}
    assert measured(first, before) == set()


def test_another_device_or_a_preflight_that_is_made_again_is_measured_again(finished, tmp_path):
    """Another driver is another plan of the preflight alone, which is then made again."""
    first = copy_of(finished, tmp_path / "copy")
    assert first("-n").jobs == {}
    jobs = first("-n", "--config", "devices=[1]").jobs
    assert (jobs["check_side"], jobs["record_shard"], jobs["replay_round"] >= 1) == (2, 1, True)
    jobs = first("-n", "--forcerun", "check_side").jobs
    assert (jobs["check_side"], jobs["record_shard"], jobs["replay_round"] >= 1) == (2, 1, True)
