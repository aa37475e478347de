from __future__ import annotations

import json
import math

import numpy as np
import pytest

from tests.unit.verdicts.verdict_rows import STEADY_FASTER, STEADY_SLOWER, WOBBLE, decide, row
from zlbench_core.errors import ConfigError, ReadError
from zlbench_core.verdicts import RowRounds, Verdict, decide_operator, fixed_looks, plan_looks
from zlbench_core.verdicts.interval import effect_of
from zlbench_core.verdicts.maxt import max_t_p


def test_six_agreeing_rounds_beyond_the_margin_are_a_claim():
    faster, slower = decide(row(STEADY_FASTER)), decide(row(STEADY_SLOWER))
    assert (faster.verdict, slower.verdict) == (Verdict.FASTER, Verdict.SLOWER)
    assert faster.evidence.p == slower.evidence.p == 0.03125
    assert math.exp(faster.evidence.theta) == pytest.approx(0.9802, abs=1e-4)
    assert (faster.next_rounds, faster.rounds_needed) == (0, None)


def test_five_rounds_can_claim_nothing_however_large_the_effect():
    verdict = decide(row([-0.5] * 5))
    assert (verdict.verdict, verdict.detail) == (Verdict.UNDECIDED, "5 of at least 6 rounds")
    assert (verdict.next_rounds, verdict.rounds_needed) == (1, 6)


def test_one_round_that_disagrees_sends_the_campaign_on_to_twelve():
    rounds = [-0.02, -0.021, -0.019, -0.02, -0.022, 0.001]
    six = decide(row(rounds))
    assert (six.verdict, six.next_rounds) == (Verdict.UNDECIDED, 6)
    assert six.rounds_needed >= 12
    assert decide(row(rounds + [-0.02] * 6)).verdict is Verdict.FASTER


def test_rounds_between_the_looks_are_not_judged():
    verdict = decide(row([-0.02] * 9))
    assert (verdict.verdict, verdict.next_rounds, verdict.rounds_needed) == (Verdict.UNDECIDED, 3, 12)
    assert "between the looks at 6 and 12" in verdict.detail


def test_rounds_after_the_last_look_change_nothing():
    twelve = [-0.02 + step for step in WOBBLE + WOBBLE]
    assert decide(row([*twelve, 0.9, 0.9])).to_json() == decide(row(twelve)).to_json()


def test_twelve_rounds_that_say_nothing_end_undecided():
    noisy = [0.03 * sign for sign in (1, -1, 1, 1, -1, -1, 1, -1, 1, -1, 1, -1)]
    verdict = decide(row(noisy))
    assert (verdict.verdict, verdict.next_rounds) == (Verdict.UNDECIDED, 0)
    assert verdict.rounds_needed == math.ceil((3 * verdict.evidence.sd / math.log1p(0.005)) ** 2)


def test_rounds_inside_the_margin_are_the_same():
    verdict = decide(row(WOBBLE))
    assert (verdict.verdict, verdict.detail, verdict.next_rounds) == (Verdict.SAME, "", 0)


def test_a_real_difference_below_the_margin_is_named():
    verdict = decide(row([0.002 + step for step in WOBBLE]))
    assert (verdict.verdict, verdict.detail) == (Verdict.SAME, "detected, below delta")


def test_a_difference_whose_interval_reaches_the_margin_is_undecided():
    rounds = [0.001, 0.006, 0.002, 0.007, 0.003, 0.006]
    verdict = decide(row(rounds))
    assert (verdict.verdict, verdict.detail) == (Verdict.UNDECIDED, "detected, below delta")
    beyond = decide(row([value + 0.003 for value in rounds]))
    assert (beyond.verdict, beyond.detail) == (Verdict.UNDECIDED, "detected, not clear of delta")


def test_an_effect_beyond_reach_says_so():
    verdict = decide(row([0.5, -0.5, 0.5, -0.5, 0.5, -0.5]))
    assert (verdict.verdict, verdict.rounds_needed) == (Verdict.UNDECIDED, None)
    assert verdict.detail == "over 1000 rounds needed"


def test_the_second_same_test_is_stricter_than_a_single_one():
    # Half-width of the 90% interval is 0.0043, of the 96.25% interval 0.0057; the margin is 0.0050.
    rounds = [0.0083 * sign for sign in (1, -1) * 6]
    single = decide(row(rounds), looks=fixed_looks(12))
    assert single.verdict is Verdict.SAME
    assert decide(row(rounds)).verdict is Verdict.UNDECIDED


def test_intervals_have_the_level_of_their_look():
    effect, evidence = effect_of(WOBBLE), decide(row(WOBBLE)).evidence
    assert evidence.ci == effect.interval(0.05)
    assert evidence.same_ci == effect.interval(2 * 0.03125)
    last = decide(row(WOBBLE * 2)).evidence
    assert last.same_ci == pytest.approx(effect_of(WOBBLE * 2).interval(2 * 0.01875))
    single = decide(row(WOBBLE), looks=fixed_looks(6)).evidence
    assert single.same_ci == effect.interval(0.10)


FIRSTS = ("a", "b", "b", "a", "a", "b")
# An H200's layer_norm: the side that was launched first took 3.3 % less, give or take 0.16 %.
ADVANTAGE = [
    (0.033 if first == "a" else -0.033) + 0.0016 * z
    for first, z in zip(FIRSTS, (0.4, -0.2, 0.9, -1.1, 0.3, -0.5), strict=True)
]


def test_an_advantage_of_the_first_side_no_longer_hides_that_the_sides_are_the_same():
    assert decide(row(ADVANTAGE)).verdict is Verdict.UNDECIDED
    found = decide(row(ADVANTAGE, firsts=FIRSTS))
    assert found.verdict is Verdict.SAME
    assert found.rows[0].verdict is Verdict.SAME
    assert found.evidence.to_json()["first_over_second"] == pytest.approx(0.967, abs=0.002)


def test_a_difference_that_is_larger_than_the_advantage_is_claimed_and_its_interval_is_narrow():
    slower = [value + 0.05 for value in ADVANTAGE]
    found = decide(row(slower, firsts=FIRSTS))
    assert found.verdict is Verdict.SLOWER
    low, high = found.evidence.ci
    assert 0.045 < low < 0.05 < high < 0.055


def test_a_difference_smaller_than_the_advantage_is_no_claim_and_is_promised_no_few_rounds():
    found = decide(row([value + 0.02 for value in ADVANTAGE], firsts=FIRSTS))
    assert found.verdict is Verdict.UNDECIDED
    assert found.detail.endswith("is above 0.05: the side launched first moved it by more")
    assert found.rounds_needed == 44  # (3 * 0.033 / (0.02 - log 1.005))^2 = 43.4


def test_rows_that_disagree_on_who_came_first_take_nothing_out_of_the_operator():
    other = tuple("b" if first == "a" else "a" for first in FIRSTS)
    found = decide(row(ADVANTAGE, firsts=FIRSTS), row(ADVANTAGE, "[64]", firsts=other))
    assert found.evidence.first_side is None
    assert all(one.evidence.first_side is not None for one in found.rows)


def test_a_declared_margin_turns_a_claim_into_same():
    assert decide(row(STEADY_FASTER), delta=0.05).verdict is Verdict.SAME


def test_a_short_kernel_must_clear_two_clock_steps():
    assert decide(row(STEADY_FASTER, t_a_ms=0.0015, t_b_ms=0.0015)).verdict is Verdict.SAME
    assert decide(row(STEADY_FASTER, t_a_ms=0.0015, t_b_ms=0.0015, batch=20)).verdict is Verdict.FASTER


def test_each_row_has_the_margin_and_the_scale_of_its_own_clock():
    coarse = row([0.0175, 0.02, -0.005, 0.021, 0.004, 0.016], "[1]", t_a_ms=0.0016, t_b_ms=0.0016)
    fine = row([0.003, 0.002, 0.0045, -0.0035, 0.004, 0.005], "[2]", t_a_ms=0.5, t_b_ms=0.5)
    verdict = decide(coarse, fine)
    assert [one.evidence.delta for one in verdict.rows] == [pytest.approx(0.04), 0.005]
    table = np.array([coarse.log_ratios, fine.log_ratios])
    steps = np.array([0.02, 32e-6 / 0.5])
    expected = max_t_p(table, steps / math.sqrt(6))
    assert tuple(one.evidence.p_rounds for one in verdict.rows) == expected
    assert expected != max_t_p(table, steps * math.sqrt(6))


def test_rows_are_judged_as_one_family_with_their_own_margins():
    verdict = decide(row(STEADY_FASTER, "[1]"), row(WOBBLE, "[2]"), row(STEADY_SLOWER, "[3]"))
    assert [one.verdict for one in verdict.rows] == [Verdict.FASTER, Verdict.SAME, Verdict.SLOWER]
    assert verdict.verdict is Verdict.SAME
    assert verdict.dissent == {"FASTER": 1, "SLOWER": 1}


def test_an_operator_that_claims_does_not_list_its_own_rows_as_dissent():
    assert decide(row(STEADY_FASTER, "[1]"), row(STEADY_FASTER, "[2]")).dissent == {}


def test_a_lost_round_is_replaced_by_no_look_of_its_own():
    five_of_six = decide(row([*STEADY_FASTER[:5], None]))
    assert five_of_six.verdict is Verdict.UNDECIDED
    assert five_of_six.detail == "5 of 6 rounds count; fewer than 6 can claim nothing"
    assert (five_of_six.next_rounds, five_of_six.rounds_needed) == (6, 12)
    eleven_of_twelve = decide(row([*STEADY_FASTER[:5], None, *STEADY_FASTER]))
    assert eleven_of_twelve.verdict is Verdict.FASTER
    assert eleven_of_twelve.evidence.rounds == 11


def test_a_round_lost_in_the_last_look_must_be_made_up_for():
    verdict = decide(row([*STEADY_FASTER[:5], *[None] * 7]))
    assert verdict.detail == "5 of 12 rounds count; fewer than 6 can claim nothing"
    assert (verdict.next_rounds, verdict.rounds_needed) == (0, 13)


def test_a_row_that_was_lost_too_often_is_excluded_by_name_and_does_not_stop_the_rest():
    lost = row([None] * 5 + [0.3], "[2]")
    verdict = decide(row(STEADY_FASTER, "[1]"), lost)
    assert verdict.verdict is Verdict.FASTER
    assert verdict.excluded == ("mm float16 kernel [2] #0: measured on both sides in 1 of 6 rounds",)
    assert [one.row.size for one in verdict.rows] == ["[1]"]


def test_a_round_counts_for_the_operator_only_with_all_of_its_rows():
    rounds = STEADY_FASTER + STEADY_FASTER
    verdict = decide(row(rounds, "[1]"), row((None, *rounds[1:]), "[2]"), row((*rounds[:-1], None), "[3]"))
    assert verdict.evidence.rounds == 10
    assert [one.evidence.rounds for one in verdict.rows] == [12, 11, 11]


def test_an_operator_that_was_never_measured_is_undecided_and_given_up():
    verdict = decide(row([None] * 6, t_a_ms=None, t_b_ms=None))
    assert (verdict.verdict, verdict.next_rounds) == (Verdict.UNDECIDED, 0)
    assert "in 6 rounds" in verdict.detail


def test_an_operator_before_its_first_round_asks_for_the_first_look():
    assert decide().next_rounds == 6


def test_a_refusal_leaves_no_number_to_quote():
    verdict = decide(row(STEADY_FASTER), refusals=["timer: cuda_graph against direct"])
    assert verdict.verdict is Verdict.REFUSED
    assert verdict.reasons == ("timer: cuda_graph against direct",)
    assert not any(isinstance(value, float) for value in verdict.to_json().values())
    assert (verdict.evidence, verdict.rows, verdict.placebo) == (None, (), None)


def test_a_refusal_comes_before_the_ir_gate():
    assert decide(ir="identical", refusals=["device"]).verdict is Verdict.REFUSED


def test_identical_code_needs_no_rounds():
    verdict = decide(ir="identical")
    assert (verdict.verdict, verdict.placebo, verdict.next_rounds) == (Verdict.NO_CODE_CHANGE, None, 0)


def test_rows_of_identical_code_are_placebo_data_and_no_claim():
    verdict = decide(row(STEADY_FASTER), ir="identical")
    assert (verdict.verdict, verdict.evidence, verdict.rows) == (Verdict.NO_CODE_CHANGE, None, ())
    assert verdict.placebo.verdict is Verdict.FASTER


def test_a_placebo_asks_for_no_more_than_the_first_look():
    assert decide(row([0.0] * 2), ir="identical").next_rounds == 4
    assert decide(row([0.001, -0.009, 0.008, 0.0, 0.004, -0.006]), ir="identical").next_rounds == 0


def test_sides_that_drift_apart_are_no_claim_and_not_the_same():
    spans = (0.04, 0.041, 0.039, 0.04, 0.042, 0.038)
    moving = decide(row(STEADY_SLOWER, spans=spans))
    assert moving.verdict is Verdict.UNDECIDED
    assert "drift apart by 4.08% inside a round" in moving.detail
    assert moving.rows[0].verdict is Verdict.UNDECIDED
    assert decide(row(WOBBLE, spans=spans)).verdict is Verdict.UNDECIDED


def test_a_drift_smaller_than_the_effect_does_not_hide_it():
    spans = (0.004, 0.0041, 0.0039, 0.004, 0.0042, 0.0038)
    assert decide(row(STEADY_SLOWER, spans=spans)).verdict is Verdict.SLOWER


def test_looks_of_a_family_ask_for_more_rounds():
    verdict = decide(row(STEADY_FASTER), looks=plan_looks(operators=10))
    assert (verdict.verdict, verdict.next_rounds) == (Verdict.UNDECIDED, 3)


@pytest.mark.parametrize("ir", ["unknown", "", "IDENTICAL", "ttgir"])
def test_an_unknown_ir_state_is_an_error_and_never_identical(ir):
    with pytest.raises(ConfigError, match="one of identical, different or None is expected"):
        decide(ir=ir)


def test_looks_of_another_alpha_are_refused():
    with pytest.raises(ConfigError, match=r"planned for 0\.01"):
        decide(row(WOBBLE), looks=plan_looks(0.01))


def test_a_row_of_another_operator_is_refused():
    with pytest.raises(ReadError, match="another operator than softmax"):
        decide(row(WOBBLE), op="softmax")


def test_json_is_plain_and_the_same_every_time():
    rows = [row(STEADY_FASTER, "[1]"), row(WOBBLE, "[2]")]
    texts = {json.dumps(decide(*rows).to_json(), allow_nan=False, sort_keys=True) for _ in range(2)}
    assert len(texts) == 1
    record = json.loads(texts.pop())
    assert record["rows"][0]["verdict"] == "FASTER"
    assert record["rows"][0]["ratio_ci"][0] < record["rows"][0]["ratio"] < record["rows"][0]["ratio_ci"][1]
    assert record["looks"] == {"alpha": 0.05, "level": 0.05, "first": 6, "last": 12}


def test_positional_use_of_the_entry_point():
    one = RowRounds("mm", "float32", "kernel", "[64]", 0, STEADY_FASTER, 0.05, 0.049)
    verdict = decide_operator("mm", [one], alpha=0.05, delta=None, ir=None, refusals=[])
    assert verdict.verdict is Verdict.FASTER
