"""Stopping rules, whole verdicts, suites and other tools' rules over simulated rounds with a known truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice

import numpy as np
from fake_clock import Noise, replays, sequential
from peer_rules import FASTER, PEERS, SLOWER
from scipy.special import stdtrit
from scipy.stats import binom

from zlbench_core.verdicts import (
    Looks,
    OperatorVerdict,
    RowRounds,
    Verdict,
    decide_campaign,
    decide_operator,
    fixed_looks,
    plan_looks,
)
from zlbench_core.verdicts.placebo import PLACEBO_LEVEL
from zlbench_core.verdicts.signflip import sign_flip_p

ALPHA = 0.05
FALSE_ALARM = 1e-6  # how unlikely a count must be under the promised bound before it is called a breach
CLAIMED = (Verdict.FASTER, Verdict.SLOWER)


@dataclass(frozen=True)
class Tally:
    """`claims` of `trials`; `bound`: what the rule promises when nothing differs, None for no promise."""

    trials: int
    claims: int
    bound: float | None = ALPHA

    @property
    def percent(self) -> float:
        return 100 * self.claims / self.trials

    @property
    def most(self) -> int:
        """The largest number of false claims that is believable under the bound."""
        return int(binom.isf(FALSE_ALARM, self.trials, self.bound))

    @property
    def breach(self) -> bool:
        return self.bound is not None and self.claims > self.most


def fixed(rounds: int) -> Callable[[np.ndarray], bool]:
    return lambda y: sign_flip_p(y[:rounds]) <= ALPHA


def six_then_twelve(y: np.ndarray) -> bool:
    looks = plan_looks(ALPHA)
    return any(
        looks.p_value(sign_flip_p(y[:rounds]), rounds) <= ALPHA for rounds in (looks.first, looks.last)
    )


def anytime_p(log_ratios: Sequence[float]) -> float:
    """Not a rule of ours: the Krichevsky-Trofimov bet on the signs, a p-value that may be looked at after every round.

    With k positive signs among the n before, p = (k + 1/2) / (n + 1): E *= 2p on +, 2(1 - p) on -. Under "B = A" with
    fair coins E is a martingale, so "claim once E >= 1/alpha" errs at most alpha of the time at any stop (Ville; Ramdas
    et al., arXiv 2210.01948).
    """
    largest, e_value, positive, seen = 1.0, 1.0, 0, 0
    for value in log_ratios:
        if value != 0:
            bet = (positive + 0.5) / (seen + 1)
            e_value *= 2 * bet if value > 0 else 2 * (1 - bet)
            positive, seen = positive + bool(value > 0), seen + 1
        largest = max(largest, e_value)
    return 1.0 / largest


def anytime(y: np.ndarray) -> bool:
    return anytime_p(y) <= ALPHA


def peeking_t(y: np.ndarray) -> bool:
    """Not a rule of ours: a paired t after every round from 4 to 24, stopping at the first p <= 0.05."""
    n = np.arange(1, len(y) + 1)
    mean = y.cumsum() / n
    with np.errstate(divide="ignore", invalid="ignore"):
        sd = np.sqrt(((y**2).cumsum() - n * mean**2) / (n - 1))
        t = np.abs(mean) / (sd / np.sqrt(n))
    return bool((t[3:] >= stdtrit(n[3:] - 1, 1 - ALPHA / 2)).any())


RULES: dict[str, tuple[Callable[[np.ndarray], bool], float | None]] = {
    "sign-flip, 6 rounds": (fixed(6), ALPHA),
    "sign-flip, 8 rounds": (fixed(8), ALPHA),
    "sign-flip, 12 rounds": (fixed(12), ALPHA),
    "6-then-12": (six_then_twelve, ALPHA),
    "KT e-process, at most 24": (anytime, ALPHA),
    "t, peeking 4 to 24": (peeking_t, None),
}


def rule_tallies(y: np.ndarray) -> dict[str, Tally]:
    """Each rule over each campaign (campaigns x rounds of log ratios)."""
    return {
        name: Tally(len(y), sum(rule(campaign) for campaign in y), bound)
        for name, (rule, bound) in RULES.items()
    }


def as_row(op: str, y: Sequence[float], rounds: int) -> RowRounds:
    values = tuple(float(value) for value in y[:rounds])
    firsts = tuple(islice(cycle("abba"), rounds))
    return RowRounds(op, "float16", "kernel", "[4096, 4096]", 0, values, 0.05, 0.05, firsts=firsts)


def staged_verdict(op: str, y: Sequence[float], looks: Looks) -> OperatorVerdict:
    """Run rounds until the verdict says that no further round can decide, as the workflow does."""
    rounds = looks.at_least
    while True:
        row = as_row(op, y, rounds)
        verdict = decide_operator(op, [row], alpha=looks.alpha, ir="different", refusals=[], looks=looks)
        if verdict.next_rounds == 0:
            return verdict
        rounds += verdict.next_rounds


def verdict_counts(y: np.ndarray) -> tuple[dict[Verdict, int], float]:
    """How often each verdict is given under 6-then-12, and the mean number of rounds spent."""
    looks = plan_looks(ALPHA)
    verdicts = [staged_verdict("op", campaign, looks) for campaign in y]
    given = [verdict.verdict for verdict in verdicts]
    spent = float(np.mean([verdict.evidence.rounds_run for verdict in verdicts]))
    return {verdict: given.count(verdict) for verdict in (*CLAIMED, Verdict.SAME, Verdict.UNDECIDED)}, spent


@dataclass(frozen=True)
class Suites:
    """`false_any`: campaigns with a false claim; `false_share`: mean share of false claims among all."""

    false_any: Tally
    false_share: float
    power: float | None
    rounds: float


def suites(
    policy: str, truth: Sequence[float], noise: Noise, campaigns: int, rng: np.random.Generator
) -> Suites:
    """Campaigns over `len(truth)` operators with these true effects, in whole replays."""
    changes = sum(effect != 0 for effect in truth)
    expected = max(1, changes) if policy == "survey" else 1
    looks = plan_looks(ALPHA, operators=len(truth) // expected)  # Benjamini-Hochberg: alpha k / m
    y = replays(noise, np.tile(truth, (campaigns, 1)), looks.last, rng)
    false, true, rounds = np.zeros(campaigns), np.zeros(campaigns), 0
    for number in range(campaigns):
        operators = [staged_verdict(f"op{k}", y[number, k], looks) for k in range(len(truth))]
        rounds += sum(operator.evidence.rounds_run for operator in operators)
        for operator, effect in zip(decide_campaign(operators, policy=policy).operators, truth, strict=True):
            detected = operator.adjusted_p <= ALPHA
            false[number] += detected and effect == 0
            true[number] += detected and effect != 0
    return Suites(
        Tally(campaigns, int((false > 0).sum()), ALPHA if policy == "gate" else None),
        float(np.mean(false / np.maximum(1, false + true))),
        float(true.sum() / (campaigns * changes)) if changes else None,
        rounds / (campaigns * len(truth)),
    )


def drifting(y: np.ndarray, by: float) -> np.ndarray:
    """The same rounds, of which side B alone drifts: by `by` (a log ratio) over the twelve that may be run."""
    return y + by * np.arange(y.shape[1]) / (plan_looks(ALPHA).last - 1)


def placebo_alarms(
    noise: Noise, bias: float, placebos: int, campaigns: int, rng: np.random.Generator
) -> Tally:
    """How often a campaign is VOID: `placebos` operators of equal code, six rounds each, side B off by `bias`.

    The alarm is bound to the placebo level where there is no bias.
    """
    looks = fixed_looks(6, ALPHA)
    y = replays(noise, np.full((campaigns, placebos), bias), 6, rng)
    void = 0
    for campaign in y:
        operators = [
            decide_operator(
                f"op{k}", [as_row(f"op{k}", rounds, 6)], alpha=ALPHA, ir="identical", refusals=[], looks=looks
            )
            for k, rounds in enumerate(campaign)
        ]
        void += decide_campaign(operators).void is not None
    return Tally(campaigns, void, PLACEBO_LEVEL if bias == 0 else None)


def peer_tallies(noise: Noise, effect: float, trials: int, rng: np.random.Generator) -> dict[str, Tally]:
    """One run of 400 launches a side for rules over samples; 9 and 20 runs a side for rules over runs."""
    layouts = {"google/benchmark Mann-Whitney": (9, 40), "pyperf t": (20, 40)}
    tallies = {}
    for name, rule in PEERS.items():
        runs, count = layouts.get(name, (1, 400))
        claims = 0
        for _ in range(trials):
            samples = sequential(noise, effect, runs, count, rng)
            a, b = samples[:, 0] if runs == 1 else samples.mean(axis=-1)
            claims += rule(a, b) in (FASTER, SLOWER)
        tallies[name] = Tally(trials, claims, None)
    return tallies
