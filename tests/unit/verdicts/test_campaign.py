from __future__ import annotations

import json
import math

import pytest

from tests.unit.verdicts.verdict_rows import STEADY_FASTER, STEADY_SLOWER, WOBBLE, decide, operator, row
from zlbench_core.errors import ConfigError
from zlbench_core.verdicts import RowRounds, Verdict, decide_campaign, minimum_rounds, plan_looks
from zlbench_core.verdicts.multiplicity import adjust, benjamini_hochberg, holm, row_factor


def placebo(op: str, log_ratios) -> object:
    return operator(op, log_ratios, ir="identical")


def verdicts_of(campaign) -> dict[str, str]:
    return {one.op: one.verdict.value for one in campaign.operators}


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([0.6, 0.9]) == (1.0, 1.0)
    assert holm([]) == ()


def test_benjamini_hochberg_by_hand():
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.02, 0.04, 0.04, 0.02))
    assert benjamini_hochberg([]) == ()


def test_policy_chooses_the_adjustment():
    assert adjust([0.03, 0.02], "gate") == pytest.approx((0.04, 0.04))
    assert adjust([0.03, 0.02], "survey") == pytest.approx((0.03, 0.03))
    with pytest.raises(ConfigError, match="'audit'; one of gate, survey"):
        adjust([0.1], "audit")


def test_rows_pay_for_the_other_operators():
    assert row_factor([0.01, 0.02, 0.9, 0.9], 0.05, "gate") == 4
    assert row_factor([0.01, 0.02, 0.9, 0.9], 0.05, "survey") == 2
    assert row_factor([0.9] * 4, 0.05, "survey") == 4


def test_a_claim_at_six_rounds_does_not_survive_a_second_operator():
    campaign = decide_campaign([operator("mm", STEADY_FASTER), operator("softmax", WOBBLE)])
    claimed = campaign.operators[0]
    assert claimed.verdict is Verdict.UNDECIDED
    assert claimed.adjusted_p == 0.0625
    assert "does not survive 2 operators" in claimed.detail
    assert claimed.rounds_needed == 12
    assert claimed.rows[0].verdict is Verdict.UNDECIDED


def test_a_claim_that_did_not_survive_asks_for_rounds_that_could():
    twelve = decide_campaign([operator("mm", STEADY_FASTER * 2), operator("add", WOBBLE * 2)]).operators[0]
    assert (twelve.verdict, twelve.rounds_needed) == (Verdict.UNDECIDED, 13)
    many = [operator("mm", STEADY_FASTER), *(operator(f"op{k}", WOBBLE) for k in range(999))]
    assert decide_campaign(many).operators[0].rounds_needed == minimum_rounds(0.05 / 1000) == 16


def test_a_claim_that_did_not_survive_may_promise_no_number_of_rounds():
    """Just beyond the margin, and the side launched first moves it by as much."""
    log_ratios = tuple(
        0.0052 + first + step / 1000 for first, step in zip((0.005, -0.005) * 3, WOBBLE, strict=True)
    )
    one = RowRounds("mm", "float16", "kernel", "[64]", 0, log_ratios, 0.05, 0.05, firsts=("a", "b") * 3)
    alone = decide(one, op="mm")
    assert alone.verdict is Verdict.SLOWER
    claimed = decide_campaign([alone, operator("add", WOBBLE)]).operators[0]
    assert (claimed.verdict, claimed.rounds_needed) == (Verdict.UNDECIDED, None)
    assert "does not survive 2 operators" in claimed.detail
    assert "over 1000 rounds needed" in claimed.detail


def test_an_operator_that_made_no_claim_has_none_to_lose():
    campaign = decide_campaign([operator("mm", WOBBLE), operator("add", [0.02, -0.02] * 3)])
    assert [one.verdict for one in campaign.operators] == [Verdict.SAME, Verdict.UNDECIDED]
    assert not any("survive" in one.detail for one in campaign.operators)


def test_a_claim_with_the_rounds_planned_for_the_family_survives():
    looks = plan_looks(operators=2)
    rounds = (*STEADY_FASTER, -0.02)
    campaign = decide_campaign([operator("mm", rounds, looks), operator("softmax", (*WOBBLE, 0.0), looks)])
    assert verdicts_of(campaign) == {"mm": "FASTER", "softmax": "SAME"}
    assert campaign.operators[0].adjusted_p == 2 * 2**-6
    assert campaign.operators[0].rows[0].verdict is Verdict.FASTER


def test_a_survey_keeps_claims_that_a_gate_would_not():
    claims = [operator(f"op{k}", STEADY_FASTER) for k in range(4)]
    assert set(verdicts_of(decide_campaign(claims, policy="survey")).values()) == {"FASTER"}
    assert set(verdicts_of(decide_campaign(claims, policy="gate")).values()) == {"UNDECIDED"}


def test_rows_of_an_operator_that_a_survey_did_not_select_claim_nothing():
    mixed = decide(row(STEADY_FASTER, "[1]"), row(STEADY_SLOWER, "[2]"))
    assert mixed.dissent == {"FASTER": 1, "SLOWER": 1}
    survey = decide_campaign([mixed], policy="survey").operators[0]
    assert (survey.verdict, survey.dissent) == (Verdict.SAME, {})
    assert {one.adjusted_p for one in survey.rows} == {1.0}
    gate = decide_campaign([mixed], policy="gate").operators[0]
    assert gate.dissent == {"FASTER": 1, "SLOWER": 1}


def test_the_family_is_what_was_judged():
    campaign = decide_campaign(
        [
            operator("mm", STEADY_FASTER),
            decide(op="add", ir="identical"),
            decide(op="sort", refusals=["timer"]),
        ]
    )
    assert campaign.family == 1
    assert verdicts_of(campaign) == {"mm": "FASTER", "add": "NO CODE CHANGE", "sort": "REFUSED"}
    assert campaign.counts() == {
        "FASTER": 1,
        "SLOWER": 0,
        "SAME": 0,
        "UNDECIDED": 0,
        "NO CODE CHANGE": 1,
        "REFUSED": 1,
        "VOID": 0,
    }


def test_an_operator_without_rounds_is_part_of_the_family():
    campaign = decide_campaign([operator("mm", STEADY_FASTER), decide(op="add")])
    assert campaign.family == 2
    assert verdicts_of(campaign) == {"mm": "UNDECIDED", "add": "UNDECIDED"}
    assert campaign.operators[1].adjusted_p == 1.0
    survey = decide_campaign([operator("mm", STEADY_FASTER), decide(op="add")], policy="survey")
    assert survey.operators[1].adjusted_p == 1.0


def test_the_p_of_a_row_never_exceeds_one():
    alone = [operator(f"op{k}", WOBBLE) for k in range(3)]
    assert {one.rows[0].adjusted_p for one in decide_campaign(alone).operators} == {1.0}


def test_placebos_that_claim_void_every_judged_operator():
    campaign = decide_campaign(
        [
            operator("mm", STEADY_FASTER),
            decide(op="sort", refusals=["timer"]),
            *(placebo(f"copy{k}", STEADY_SLOWER) for k in range(3)),
        ]
    )
    assert campaign.placebos.alarm
    void, refused, *copies = campaign.operators
    assert void.verdict is Verdict.VOID
    assert (void.evidence, void.rows, void.adjusted_p) == (None, (), None)
    assert void.reasons == (campaign.void,)
    assert "3 of 3 operators with identical code" in campaign.void
    assert refused.verdict is Verdict.REFUSED
    assert {copy.verdict for copy in copies} == {Verdict.NO_CODE_CHANGE}


def test_as_many_false_claims_as_chance_allows_are_no_alarm():
    campaign = decide_campaign(
        [operator("mm", STEADY_FASTER), placebo("copy0", STEADY_SLOWER), placebo("copy1", WOBBLE)]
    )
    assert (campaign.placebos.claims, campaign.placebos.allowed, campaign.placebos.alarm) == (1, 1, False)
    assert verdicts_of(campaign)["mm"] == "FASTER"


def more_than(claims: int, placebos: int) -> float:
    return sum(
        math.comb(placebos, k) * 0.05**k * 0.95 ** (placebos - k) for k in range(claims + 1, placebos + 1)
    )


@pytest.mark.parametrize(("usable", "allowed"), [(1, 1), (2, 1), (3, 1), (10, 3), (20, 4), (60, 7)])
def test_binomial_bound_at_one_percent(usable, allowed):
    placebos = [placebo(f"copy{k}", WOBBLE) for k in range(usable)]
    check = decide_campaign([], placebos=placebos).placebos
    assert (check.usable, check.allowed, check.claims) == (usable, allowed, 0)
    assert more_than(allowed, usable) <= 0.01 < more_than(allowed - 1, usable)


def test_a_placebo_of_too_few_rounds_proves_nothing():
    check = decide_campaign([placebo("copy", [0.05] * 3)]).placebos
    assert (check.measured, check.usable, check.allowed, check.alarm) == (1, 0, 0, False)


def test_a_placebo_below_the_margin_is_detected_but_claims_nothing():
    check = decide_campaign([placebo("copy", [0.002 + step for step in WOBBLE])]).placebos
    assert (check.detected, check.claims) == (1, 0)


def test_a_drift_does_not_excuse_a_placebo():
    drifting = row(STEADY_SLOWER, spans=(0.04, 0.041, 0.039, 0.04, 0.042, 0.038))
    assert decide_campaign([decide(drifting, ir="identical")]).placebos.claims == 1


def test_given_placebos_replace_those_among_the_operators():
    own, given = placebo("copy", STEADY_SLOWER), placebo("other", WOBBLE)
    assert decide_campaign([own], placebos=[given]).placebos.claims == 0


def test_an_operator_judged_at_another_alpha_is_refused():
    with pytest.raises(ConfigError, match=r"mm: judged at alpha 0\.01"):
        decide_campaign([operator("mm", WOBBLE, plan_looks(0.01), alpha=0.01)])


def test_an_unknown_policy_is_refused_even_without_operators():
    with pytest.raises(ConfigError, match="policy is"):
        decide_campaign([], policy="none")


def test_json_of_a_campaign_is_plain():
    campaign = decide_campaign([operator("mm", STEADY_FASTER), placebo("copy", WOBBLE)])
    record = json.loads(json.dumps(campaign.to_json(), allow_nan=False))
    assert record["placebos"] == {
        "measured": 1,
        "usable": 1,
        "claims": 0,
        "detected": 0,
        "allowed": 1,
        "alpha": 0.05,
        "level": 0.01,
        "alarm": False,
    }
    assert record["operators"][1]["placebo"]["verdict"] == "SAME"
