"""Campaigns with a known truth: how often does each stopping rule claim, and how often is the claim false?

    PYTHONPATH=. python benchmarks/simulate_verdicts.py [--campaigns 2000] [--seed 1]

The noise comes from fake_clock.py; every decision is made by zlbench_core.verdicts itself. Prints tables and
exits 1 when a rule that promises a bound claims falsely more often than that bound allows.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

import numpy as np
from fake_clock import NOISES, Noise, duet, replays
from simulated_rules import (
    ALPHA,
    RULES,
    Suites,
    Tally,
    drifting,
    peer_tallies,
    placebo_alarms,
    rule_tallies,
    suites,
    verdict_counts,
)

from zlbench_core.verdicts import Verdict

EFFECTS = (0.0, 0.005, 0.01, 0.02)
CELLS = [(noise, effect) for noise in NOISES for effect in EFFECTS]
MARGIN = 0.005
SUPERBLOCKS = 4
MOST_ROUNDS = 24
SUITES = (
    ("gate", (0.0,) * 10),
    ("gate", (0.01,) * 3 + (0.0,) * 7),
    ("survey", (0.01,) * 5 + (0.0,) * 15),
)
DRIFTS = (0.01, 0.02, 0.05)
PLACEBOS = 10
BIASES = (0.0, 0.01, 0.02)
Table = dict[tuple[str, float], dict[str, Tally]]


def duet_log_ratios(
    noise: Noise, effect: float, campaigns: int, rounds: int, rng: np.random.Generator
) -> np.ndarray:
    """campaigns x rounds of y, made in pieces so that the launches fit into memory."""
    pieces = [
        duet(noise, effect, (size, rounds, SUPERBLOCKS), rng).superblock_log_ratios().mean(axis=-1)
        for size in _pieces(campaigns, 250)
    ]
    return np.concatenate(pieces)


def _pieces(total: int, most: int) -> Iterator[int]:
    while total > 0:
        yield min(total, most)
        total -= most


def report_rules(title: str, table: Table) -> bool:
    """Print % claimed at each effect and the false claims beside their bound. True when a bound broke."""
    effects = " / ".join(f"{100 * effect:g}" for effect in EFFECTS)
    print(f"\n{title}: % 'B differs' at a true effect of {effects}%")
    print("| rule | " + " | ".join(noise.name for noise in NOISES) + " | false claims (may be) |")
    print("|---" * (len(NOISES) + 2) + "|")
    for name in next(iter(table.values())):
        cells = ["/".join(f"{table[n.name, e][name].percent:.1f}" for e in EFFECTS) for n in NOISES]
        print(f"| {name} | " + " | ".join(cells) + f" | {_false_claims(table, name)} |")
    return any(tally.breach for noise in NOISES for tally in table[noise.name, 0.0].values())


def _false_claims(table: Table, name: str) -> str:
    null = [table[noise.name, 0.0][name] for noise in NOISES]
    counts = ", ".join(str(tally.claims) for tally in null)
    return f"{counts} of {null[0].trials}" + ("" if null[0].bound is None else f" ({null[0].most})")


def report_verdicts(title: str, rounds: dict[tuple[str, float], np.ndarray]) -> bool:
    """Print the verdicts of 6-then-12. True when wrong ones came more often than alpha allows."""
    print(f"\n{title}: % of verdicts under 6-then-12, margin {100 * MARGIN:g}%")
    print("| noise | effect | FASTER | SLOWER | SAME | UNDECIDED | rounds |\n" + "|---" * 7 + "|")
    breached = False
    for noise, effect in CELLS:
        y = rounds[noise.name, effect]
        counts, spent = verdict_counts(y)
        shares = " | ".join(f"{100 * count / len(y):.1f}" for count in counts.values())
        print(f"| {noise.name} | {100 * effect:g}% | {shares} | {spent:.1f} |")
        # FASTER is never right here; SAME is wrong from the margin on, SLOWER where nothing differs.
        wrong = counts[Verdict.SAME] if effect >= MARGIN else counts[Verdict.SLOWER]
        breached |= Tally(len(y), wrong + counts[Verdict.FASTER]).breach
    return breached


def report_suites(campaigns: int, noise: Noise, rng: np.random.Generator) -> bool:
    """Print what the families of operators did. True when a policy broke its promise."""
    print(f"\nSuites in whole replays, {noise.name} noise, {campaigns} campaigns, adjusted p <= {ALPHA:g}")
    print("| policy | operators | changed | any false claim | share false | power | rounds |")
    print("|---" * 7 + "|")
    breached = False
    for policy, truth in SUITES:
        result = suites(policy, truth, noise, campaigns, rng)
        print(f"| {policy} | {len(truth)} | {sum(e != 0 for e in truth)} by 1% | {_suite_cells(result)} |")
        # The share is a mean over campaigns; a count of the same size breaks the bound in the same way.
        false = Tally(campaigns, round(result.false_share * campaigns))
        breached |= result.false_any.breach or false.breach
    return breached


def report_drift(plain: dict[tuple[str, float], np.ndarray]) -> bool:
    """Print the verdicts of A/A rounds in which side B alone drifts. True when it was claimed to be a difference.

    A drift whose mean lies beyond the margin is a difference too while it lasts: of it nothing is promised.
    """
    print("\nA/A in whole replays, side B alone drifting over the rounds: % of verdicts under 6-then-12")
    print("| noise | drift in 12 rounds | FASTER | SLOWER | SAME | UNDECIDED | rounds |\n" + "|---" * 7 + "|")
    breached = False
    for noise in NOISES:
        for by in DRIFTS:
            counts, spent = verdict_counts(drifting(plain[noise.name, 0.0], by))
            total = sum(counts.values())
            shares = " | ".join(f"{100 * count / total:.1f}" for count in counts.values())
            print(f"| {noise.name} | {100 * by:g}% | {shares} | {spent:.1f} |")
            claims = counts[Verdict.FASTER] + counts[Verdict.SLOWER]
            breached |= by <= 2 * MARGIN and Tally(total, claims).breach
    return breached


def report_placebos(campaigns: int, rng: np.random.Generator) -> bool:
    """Print how often the placebos void a campaign. True when a fair one is voided more often than promised."""
    print(
        f"\nPlacebos in whole replays, {PLACEBOS} operators of equal code, 6 rounds, {campaigns} campaigns: % VOID"
    )
    print("| noise | " + " | ".join(f"side B off by {100 * bias:g}%" for bias in BIASES) + " |")
    print("|---" * (len(BIASES) + 1) + "|")
    breached = False
    for noise in NOISES:
        tallies = [placebo_alarms(noise, bias, PLACEBOS, campaigns, rng) for bias in BIASES]
        print(f"| {noise.name} | " + " | ".join(f"{tally.percent:.2f}" for tally in tallies) + " |")
        breached |= any(tally.breach for tally in tallies)
    return breached


def _suite_cells(result: Suites) -> str:
    power = "" if result.power is None else f"{100 * result.power:.1f}%"
    shares = f"{result.false_any.percent:.2f}% | {100 * result.false_share:.2f}%"
    return f"{shares} | {power} | {result.rounds:.1f}"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="How often each stopping rule claims, and how often falsely."
    )
    parser.add_argument("--campaigns", type=int, default=2000)
    parser.add_argument(
        "--peers", type=int, default=200, help="trials for each cell of the other tools' table"
    )
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(argv)
    rng = np.random.default_rng(asked.seed)
    count = asked.campaigns
    duets = {(n.name, e): duet_log_ratios(n, e, count, MOST_ROUNDS, rng) for n, e in CELLS}
    plain = {(n.name, e): replays(n, np.full(count, e), MOST_ROUNDS, rng) for n, e in CELLS}
    breaches = [
        report_rules("Duet", {key: rule_tallies(y) for key, y in duets.items()}),
        report_rules("Whole replays", {key: rule_tallies(y) for key, y in plain.items()}),
        report_verdicts("Duet", duets),
        report_verdicts("Whole replays", plain),
        report_suites(count, NOISES[-1], rng),
        report_drift(plain),
        report_placebos(count, rng),
    ]
    report_rules("Other tools", {(n.name, e): peer_tallies(n, e, asked.peers, rng) for n, e in CELLS})
    print("\nA BOUND WAS BROKEN" if any(breaches) else f"\nno bound was broken ({len(RULES)} rules)")
    return int(any(breaches))


if __name__ == "__main__":
    sys.exit(main())
