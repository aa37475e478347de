"""From the rounds of a row or an operator to its evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from zlbench_core.campaign.looks import Looks
from zlbench_core.verdicts.drift import drift_complaint, trend_complaint
from zlbench_core.verdicts.interval import effect_of, margin
from zlbench_core.verdicts.model import Evidence


def gather(
    log_ratios: Sequence[float | None],
    spans: Sequence[float | None],
    firsts: Sequence[str | None] = (),
    *,
    delta: float,
    looks: Looks,
    test: Callable[[Sequence[float]], float],
) -> Evidence:
    """Effect, intervals and p of one series of rounds; None marks a round without a measurement. `firsts`: the side
    that was launched first in each, empty where nothing is known of it.

    `test` gives the p of the rounds as if their number had been fixed; `looks` makes it valid over the looks.
    """
    counted = [(number, value) for number, value in enumerate(log_ratios) if value is not None]
    values = [value for _, value in counted]
    run = len(log_ratios)
    effect = effect_of(values, [firsts[number] for number, _ in counted] if firsts else ())
    p_rounds = test(values)
    known = [span for span in spans if span is not None]
    return Evidence(
        rounds_run=run,
        rounds=len(values),
        theta=effect.theta,
        sd=effect.sd,
        first_side=effect.first_side,
        ci=effect.interval(looks.alpha),
        same_ci=effect.interval(2 * looks.same_alpha(run)),
        p_rounds=p_rounds,
        p=looks.p_value(p_rounds, run),
        delta=delta,
        drift=None if effect.theta is None else _drift(known, log_ratios, effect.theta, margin(delta)),
        looks=looks,
    )


def _drift(
    spans: Sequence[float], log_ratios: Sequence[float | None], theta: float, limit: float
) -> str | None:
    return drift_complaint(spans, theta, limit) or trend_complaint(log_ratios, theta, limit)
