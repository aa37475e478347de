"""Many operators, one campaign: what a p-value becomes when it is one of a family."""

from __future__ import annotations

from collections.abc import Sequence

from zlbench_core.errors import ConfigError

POLICIES = ("gate", "survey")


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's step-down p-values (1979), in the order given: they bound the chance of any false claim."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for place, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = largest
    return tuple(adjusted)


def benjamini_hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """Benjamini and Hochberg's p-values (1995), in the order given: they bound the share of false claims."""
    if not p_values:
        return ()
    # scipy is slow to import: only a step that judges pays for it.
    from scipy.stats import false_discovery_control

    return tuple(float(value) for value in false_discovery_control(p_values, method="bh"))


def adjust(p_values: Sequence[float], policy: str) -> tuple[float, ...]:
    """Holm for a gate ("no regression anywhere"), Benjamini-Hochberg for a survey; else ConfigError."""
    if policy not in POLICIES:
        raise ConfigError(f"policy is {policy!r}; one of {', '.join(POLICIES)} is allowed")
    return holm(p_values) if policy == "gate" else benjamini_hochberg(p_values)


def row_factor(adjusted: Sequence[float], alpha: float, policy: str) -> float:
    """What the p of a row, already adjusted inside its operator, is multiplied by for the other operators.

    Gate: the number of operators (Bonferroni). Survey: operators over operators detected (Benjamini &
    Bogomolov 2014); rows of an operator that is not detected are not looked at, which is the caller's part.
    """
    if policy == "gate":
        return float(len(adjusted))
    return len(adjusted) / max(1, sum(p <= alpha for p in adjusted))
