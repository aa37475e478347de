from __future__ import annotations

import pytest

from zlbench_core.report.explain import _EXPLAIN, explain
from zlbench_core.verdicts import Verdict

FOUND = {"alpha": 0.05, "family": 1, "policy": "gate", "placebos": {"claims": 2, "usable": 3, "allowed": 1}}
FOUND |= {"declared_axis": ["env:TRITON_DISABLE_LINE_INF"], "operators": [{"verdict": "NO CODE CHANGE"}]}
EVIDENCE = {
    "rounds": 6,
    "rounds_run": 7,
    "ratio": 0.912,
    "ratio_ci": [0.9, 0.925],
    "ratio_same_ci": [0.91, 0.92],
    "p": 0.03125,
    "delta": 0.005,
    "drift": None,
}


def operator(verdict, evidence=EVIDENCE, **fields):
    plain = {"detail": "", "dissent": {}, "rounds_needed": None, "adjusted_p": 0.03125, "placebo": None}
    return {"op": "mm", "verdict": verdict, "evidence": evidence, "refusals": [], **plain, **fields}


def told(verdict, evidence=EVIDENCE, found=FOUND, gate=None, **fields) -> str:
    return " ".join(explain(operator(verdict, evidence, **fields), found, gate))


def test_every_verdict_has_its_sentences():
    assert set(_EXPLAIN) == set(Verdict)


def test_a_claim_names_its_numbers_and_what_would_change_it():
    text = told("FASTER")
    assert "6 of 7 rounds that were run count" in text
    assert "B took 0.9120 times A's latency (8.8 % less); the 95 % interval is 0.9000 to 0.9250" in text
    assert "lies wholly below 0.9950, which is 1 and the margin of 0.5 %" in text
    assert "p = 0.0312. A claim needs p at most 0.05" in text
    assert "What would change it: a larger declared margin" in text


def test_what_the_first_side_gained_is_told_where_it_is_worth_it():
    assert "The side launched first took 3.3 % less than the other" in told(
        "SAME", {**EVIDENCE, "first_over_second": 0.967}
    )
    assert "launched first" not in told("SAME", {**EVIDENCE, "first_over_second": 1.0001})


def test_slower_is_told_on_the_other_side_of_one():
    assert "wholly above 1.0050" in told("SLOWER", {**EVIDENCE, "ratio": 1.1, "ratio_ci": [1.05, 1.15]})


@pytest.mark.parametrize(("policy", "method"), [("gate", "Holm"), ("survey", "Benjamini-Hochberg")])
def test_an_adjustment_is_named_where_several_were_judged(policy, method):
    text = told("FASTER", found={**FOUND, "family": 4, "policy": policy}, adjusted_p=0.04)
    assert f"adjusted for 4 operators ({method}" in text
    assert "p = 0.04." in text


def test_same_gives_the_interval_of_the_equivalence_test():
    assert "0.9100 to 0.9200, lies wholly inside the margin" in told("SAME")


def test_undecided_gives_the_rounds_needed_or_says_that_none_is_promised():
    assert "about 20 rounds of this noise" in told("UNDECIDED", rounds_needed=20)
    assert "No number of rounds is promised" in told("UNDECIDED")
    assert "drifted apart" in told("UNDECIDED", {**EVIDENCE, "drift": "the sides drift"})


def test_undecided_without_any_ratio_has_none():
    evidence = {**EVIDENCE, "ratio": None, "ratio_ci": None, "ratio_same_ci": None}
    assert "No ratio could be estimated" in told("UNDECIDED", evidence)


def test_rows_that_disagree_are_named():
    assert "Not all rows agree: 2 rows SLOWER" in told("FASTER", dissent={"SLOWER": 2})


@pytest.mark.parametrize("verdict", ["REFUSED", "NO CODE CHANGE"])
def test_a_verdict_without_a_number_has_no_digit(verdict):
    text = told(verdict, None)
    assert not any(char.isdigit() for char in text)
    assert "What would change it" in text


def test_no_code_change_tells_how_many_variants_were_compared():
    assert "2 kernel variants compared" in told("NO CODE CHANGE", None, gate={"counts": {"compared": 2}})


def test_void_tells_the_placebos():
    assert "2 of 3 operators with identical code" in told("VOID", None)


def test_no_code_change_asks_for_the_spelling_until_the_variable_reached_an_operator():
    asked = "If TRITON_DISABLE_LINE_INF should have changed it, check the spelling."
    assert asked in told("NO CODE CHANGE", None)
    reached = {**FOUND, "operators": [*FOUND["operators"], {"verdict": "SAME"}]}
    assert "spelling" not in told("NO CODE CHANGE", None, found=reached)
