"""When a campaign looks at its rounds, and what a look may spend of alpha: decided before the first round."""

from __future__ import annotations

from dataclasses import dataclass

from zlbench_core.errors import ConfigError

MOST_ROUNDS = 64
# What the first look may spend at most: less, and the second look could not claim with mixed signs at all.
FIRST_LOOK_SHARE = 0.8


@dataclass(frozen=True)
class Looks:
    """One look (`first` None) or two: at `first` rounds a claim needs all signs to agree, at `last` the rest.

    `alpha` is the campaign's level, `level` what a single operator may spend of it.
    """

    alpha: float
    level: float
    first: int | None
    last: int

    @property
    def spent(self) -> float:
        """What the first look spends: the chance that `first` fair signs all agree."""
        return 0.0 if self.first is None else 2.0 ** (1 - self.first)

    @property
    def at_least(self) -> int:
        """Rounds before the earliest look."""
        return self.last if self.first is None else self.first

    def is_look(self, rounds_run: int) -> bool:
        return rounds_run >= self.last or rounds_run == self.first

    def p_value(self, p_rounds: float, rounds_run: int) -> float:
        """The p-value that is valid although there are two looks, from the fixed-n p of the rounds so far.

        First look: the share spent when all signs agree, else 1 (the campaign goes on). Last look: spent + p.
        Union bound: P(p <= u) <= spent + (u - spent) for every u. Between the looks nothing is claimed: 1.
        """
        if rounds_run >= self.last:
            return min(1.0, self.spent + p_rounds)
        if rounds_run == self.first and p_rounds <= self.spent:
            return self.spent
        return 1.0

    def same_alpha(self, rounds_run: int) -> float:
        """The level of the two one-sided tests for SAME at this look; the looks' levels add up to `alpha`."""
        if self.first is None:
            return self.alpha
        first_share = self.spent / self.level
        return self.alpha * (1 - first_share if rounds_run >= self.last else first_share)


def minimum_rounds(level: float) -> int:
    """The fewest rounds with which a sign-flip test can reach `level`: 2^(1-n) <= level, all agreeing."""
    check_level("level", level)
    rounds = 1
    while 2.0 ** (1 - rounds) > level:
        rounds += 1
    return rounds


def plan_looks(alpha: float = 0.05, *, operators: int = 1) -> Looks:
    """Two looks, n and 2n rounds: 6 and 12 for one operator at 0.05 (spends 0.03125, then p <= 0.01875).

    A gate over `operators` needs each claim at alpha / operators (Holm). Raises ConfigError for values that are
    not allowed.
    """
    level = _level(alpha, operators)
    first = 2
    while 2.0 ** (1 - first) > FIRST_LOOK_SHARE * level:
        first += 1
    return Looks(alpha, level, first, 2 * first)


def fixed_looks(rounds: int, alpha: float = 0.05, *, operators: int = 1) -> Looks:
    """One look at a number of rounds fixed beforehand. Raises ConfigError when so few can claim nothing."""
    level = _level(alpha, operators)
    fewest = minimum_rounds(level)
    if not fewest <= rounds <= MOST_ROUNDS:
        raise ConfigError(
            f"rounds is {rounds}; at level {level:g} between {fewest} and {MOST_ROUNDS} rounds are allowed"
        )
    return Looks(alpha, level, None, rounds)


def check_level(name: str, value: float) -> None:
    """Raise ConfigError unless 2^-30 <= value <= 0.5: beyond it no number of rounds we take could matter."""
    if not 2.0**-30 <= value <= 0.5:
        raise ConfigError(f"{name} is {value}; a level between 2^-30 and 0.5 is expected")


def _level(alpha: float, operators: int) -> float:
    check_level("alpha", alpha)
    if operators < 1:
        raise ConfigError(f"operators is {operators}; at least 1 is expected")
    level = alpha / operators
    check_level(f"alpha for {operators} operators", level)
    return level
