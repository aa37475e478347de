"""From the rounds of a row or an operator to its evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from zlbench_core.verdicts.drift import drift_complaint, trend_complaint
from zlbench_core.verdicts.interval import margin, mean_and_sd, t_interval
from zlbench_core.verdicts.looks import Looks
from zlbench_core.verdicts.model import Evidence


def gather(
    log_ratios: Sequence[float | None],
    spans: Sequence[float | None],
    *,
    delta: float,
    looks: Looks,
    test: Callable[[Sequence[float]], float],
) -> Evidence:
    """Effect, intervals and p of one series of rounds; None marks a round without a measurement.

    `test` gives the p of the rounds as if their number had been fixed; `looks` makes it valid over the looks.
    """
    values = [value for value in log_ratios if value is not None]
    run = len(log_ratios)
    theta, sd = mean_and_sd(values)
    p_rounds = test(values)
    known = [span for span in spans if span is not None]
    return Evidence(
        rounds_run=run,
        rounds=len(values),
        theta=theta,
        sd=sd,
        ci=_interval(theta, sd, len(values), looks.alpha),
        same_ci=_interval(theta, sd, len(values), 2 * looks.same_alpha(run)),
        p_rounds=p_rounds,
        p=looks.p_value(p_rounds, run),
        delta=delta,
        drift=None if theta is None else _drift(known, log_ratios, theta, margin(delta)),
        looks=looks,
    )


def _drift(
    spans: Sequence[float], log_ratios: Sequence[float | None], theta: float, limit: float
) -> str | None:
    return drift_complaint(spans, theta, limit) or trend_complaint(log_ratios, theta, limit)


def _interval(theta: float | None, sd: float | None, count: int, alpha: float) -> tuple[float, float] | None:
    return None if theta is None or sd is None else t_interval(theta, sd, count, alpha)
