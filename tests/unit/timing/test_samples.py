from __future__ import annotations

import math
from typing import Any

import pytest

from zlbench_core.timing.samples import NoMeasurement, Samples, TimedRequest, checked, summarise

VALUES = [0.4, 0.1, 0.2, 0.3, 9.0]


@pytest.mark.parametrize(
    "asked",
    [
        {"return_mode": "mean"},
        {"return_mode": "median"},
        {"return_mode": "min"},
        {"return_mode": "max"},
        {"return_mode": "all"},
        {"quantiles": (0.5, 0.2, 0.8)},
        {"quantiles": (0.5,)},
        {"quantiles": (0.0, 1.0), "return_mode": "median"},
    ],
)
def test_a_summary_is_what_upstream_would_return(asked: dict[str, Any]) -> None:
    from triton.testing import _summarize_statistics

    upstream = _summarize_statistics(VALUES, asked.get("quantiles"), asked.get("return_mode", "mean"))
    assert summarise(VALUES, TimedRequest(print, **asked)) == upstream


@pytest.mark.parametrize("asked", [{"return_mode": "mode"}, {"quantiles": (1.5,)}])
def test_an_unknown_summary_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="is expected"):
        summarise(VALUES, TimedRequest(print, **asked))


@pytest.mark.parametrize("value", [0.0, -0.001, math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("place", [0, 2])
def test_one_value_that_is_no_time_is_no_measurement(value: float, place: int) -> None:
    values = [0.1, 0.2, 0.3]
    values[place] = value
    with pytest.raises(NoMeasurement, match="no measurement: the direct timer gave"):
        checked(Samples("direct", tuple(values), flush_l2=True))


def test_no_sample_at_all_is_no_measurement() -> None:
    with pytest.raises(NoMeasurement, match="gave no sample"):
        checked(Samples("cuda_graph", (), flush_l2=False))


def test_times_pass_the_check_unchanged() -> None:
    samples = Samples("direct", (1e-6, 2.0), flush_l2=True)
    assert checked(samples) is samples
