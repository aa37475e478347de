"""A small edition of benchmarks/simulate_verdicts.py: seeded, and with bounds that chance does not break."""

from __future__ import annotations

import numpy as np
import pytest
from fake_clock import NOISES, duet, replays
from simulate_verdicts import duet_log_ratios
from simulated_rules import (
    RULES,
    Tally,
    anytime_p,
    drifting,
    placebo_alarms,
    rule_tallies,
    suites,
    verdict_counts,
)

from zlbench_core.records.superblock import superblock_log_ratio
from zlbench_core.verdicts import Superblock, Verdict, plan_looks

CAMPAIGNS = 200
QUIET, TYPICAL, THERMAL = NOISES


@pytest.fixture(scope="module")
def null() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(11)
    rounds = {noise.name: replays(noise, np.zeros(CAMPAIGNS), 24, rng) for noise in NOISES}
    return {**rounds, "duet": duet_log_ratios(TYPICAL, 0.0, CAMPAIGNS, 24, rng)}


@pytest.mark.parametrize("where", ["quiet", "typical", "thermal", "duet"])
def test_every_stopping_rule_keeps_its_bound(null, where):
    tallies = rule_tallies(null[where])
    promised = [name for name, (_, bound) in RULES.items() if bound is not None]
    assert len(promised) == 5
    for name in promised:
        assert tallies[name].claims <= tallies[name].most, name


def test_the_bound_is_tight_enough_to_catch_peeking(null):
    claims = rule_tallies(null["typical"])["t, peeking 4 to 24"].claims
    assert Tally(CAMPAIGNS, claims).breach


def test_a_change_of_one_percent_is_found():
    y = replays(TYPICAL, np.full(50, 0.01), 12, np.random.default_rng(12))
    counts, spent = verdict_counts(y)
    assert counts[Verdict.SLOWER] >= 45
    assert counts[Verdict.FASTER] == counts[Verdict.SAME] == 0
    assert 6 <= spent < 7


def test_a_change_on_the_margin_is_rarely_called_the_same():
    y = replays(TYPICAL, np.full(150, 0.005), 12, np.random.default_rng(13))
    counts, _ = verdict_counts(y)
    wrong = Tally(150, counts[Verdict.SAME] + counts[Verdict.FASTER])
    assert not wrong.breach


def test_a_gate_over_six_operators_keeps_its_bound():
    result = suites("gate", [0.01, 0.01, 0.0, 0.0, 0.0, 0.0], TYPICAL, 40, np.random.default_rng(14))
    assert not result.false_any.breach
    assert result.power > 0.9
    assert result.rounds >= plan_looks(operators=6).first


def test_a_survey_keeps_the_share_of_false_claims_small():
    truth = [0.02, 0.02] + [0.0] * 6
    result = suites("survey", truth, TYPICAL, 30, np.random.default_rng(15))
    assert result.false_any.bound is None
    assert result.false_share <= 0.05
    assert result.power > 0.9


def test_the_vectorised_superblocks_are_those_of_the_product():
    made = duet(THERMAL, 0.01, (2, 3, 2), np.random.default_rng(16))
    fast = made.superblock_log_ratios()
    for index in np.ndindex(made.b_first.shape):
        order = "BAAB" if made.b_first[index] else "ABBA"
        block = Superblock(order, tuple(tuple(map(float, samples)) for samples in made.launches[index]))
        assert superblock_log_ratio(block) == pytest.approx(fast[index], abs=1e-12)


def test_the_duet_removes_what_both_sides_share():
    rng = np.random.default_rng(17)
    together = duet_log_ratios(THERMAL, 0.0, 30, 8, rng).std()
    apart = replays(THERMAL, np.zeros(30), 8, rng).std()
    assert together < apart / 2


@pytest.mark.parametrize("by", [0.01, 0.05])
def test_a_drift_of_one_side_alone_is_not_claimed(null, by):
    counts, _ = verdict_counts(drifting(null["typical"][:100], by))
    assert counts[Verdict.FASTER] + counts[Verdict.SLOWER] <= 1
    assert counts[Verdict.UNDECIDED] + counts[Verdict.SAME] >= 99


def test_placebos_void_a_biased_campaign_and_rarely_a_fair_one():
    rng = np.random.default_rng(18)
    assert not placebo_alarms(TYPICAL, 0.0, 5, 60, rng).breach
    assert placebo_alarms(TYPICAL, 0.02, 5, 20, rng).claims == 20


@pytest.mark.parametrize(
    ("alpha", "rounds"), [(0.05, 7), (0.01, 10), (0.05 / 16, 11), (0.05 / 40, 13), (0.05 / 100, 14)]
)
def test_kt_needs_the_rounds_of_the_published_table(alpha, rounds):
    assert anytime_p([0.01] * (rounds - 1)) > alpha >= anytime_p([0.01] * rounds)
    assert anytime_p([-0.01] * rounds) == anytime_p([0.01] * rounds)


def test_an_anytime_claim_stays_claimed():
    assert anytime_p([0.01] * 7 + [-0.01] * 20) == anytime_p([0.01] * 7)
    assert anytime_p([0.1, 0.0, 0.1, -0.1]) == pytest.approx(1 / 1.5)  # bets 1/2, none, 3/4, 1/6
    assert anytime_p([]) == 1.0
