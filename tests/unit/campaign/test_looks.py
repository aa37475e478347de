from __future__ import annotations

import math

import pytest

from zlbench_core.errors import ConfigError
from zlbench_core.verdicts import fixed_looks, minimum_rounds, plan_looks


@pytest.mark.parametrize(
    ("level", "rounds"), [(0.05, 6), (0.01, 8), (0.05 / 16, 10), (0.05 / 40, 11), (0.05 / 100, 12), (0.5, 2)]
)
def test_minimum_rounds_of_the_published_table(level, rounds):
    assert minimum_rounds(level) == rounds
    assert 2.0 ** (1 - rounds) <= level < 2.0 ** (2 - rounds)


def test_one_operator_is_looked_at_after_six_and_twelve_rounds():
    looks = plan_looks()
    assert (looks.first, looks.last, looks.spent) == (6, 12, 0.03125)


@pytest.mark.parametrize("operators", [1, 2, 5, 10, 16, 40, 100, 400])
def test_both_looks_can_claim_within_the_level_of_one_operator(operators):
    looks = plan_looks(operators=operators)
    assert looks.level == 0.05 / operators
    assert looks.spent <= 0.8 * looks.level < 2 * looks.spent
    assert looks.spent + 2.0 ** (1 - looks.last) <= looks.level


def test_first_look_claims_only_when_all_signs_agree():
    looks = plan_looks()
    assert looks.p_value(0.03125, 6) == 0.03125
    assert looks.p_value(0.0625, 6) == 1.0


def test_last_look_pays_for_the_first():
    looks = plan_looks()
    assert looks.p_value(76 / 4096, 12) <= 0.05 < looks.p_value(78 / 4096, 12)
    assert looks.p_value(0.99, 12) == 1.0


@pytest.mark.parametrize("rounds", [5, 7, 11])
def test_nothing_is_claimed_off_the_looks(rounds):
    looks = plan_looks()
    assert not looks.is_look(rounds)
    assert looks.p_value(2.0 ** (1 - rounds), rounds) == 1.0


@pytest.mark.parametrize("operators", [1, 10])
def test_levels_of_the_two_same_tests_add_up_to_alpha(operators):
    looks = plan_looks(operators=operators)
    assert looks.same_alpha(looks.first) + looks.same_alpha(looks.last) == pytest.approx(0.05)
    assert looks.same_alpha(looks.first) > 0


def test_a_fixed_number_of_rounds_spends_everything_at_once():
    looks = fixed_looks(8)
    assert (looks.first, looks.last, looks.spent, looks.at_least) == (None, 8, 0.0, 8)
    assert looks.p_value(0.04, 8) == 0.04
    assert looks.same_alpha(8) == 0.05
    assert not looks.is_look(6)
    assert (looks.same_alpha(3), fixed_looks(64).last) == (0.05, 64)


@pytest.mark.parametrize("rounds", [0, 5, 65])
def test_a_fixed_number_that_can_claim_nothing_is_refused(rounds):
    with pytest.raises(ConfigError, match="between 6 and 64 rounds"):
        fixed_looks(rounds)


def test_a_family_asks_for_more_fixed_rounds():
    with pytest.raises(ConfigError, match="between 10 and 64"):
        fixed_looks(9, operators=16)


@pytest.mark.parametrize("alpha", [0, -0.1, 0.6, 1, math.nan, 1e-12])
def test_an_impossible_alpha_is_refused(alpha):
    with pytest.raises(ConfigError, match="alpha is"):
        plan_looks(alpha)


def test_an_impossible_number_of_operators_is_refused():
    with pytest.raises(ConfigError, match="operators is 0"):
        plan_looks(operators=0)
