from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import DATA
from zlbench_core.pins.near_ties import Timed, Timing, near_ties, ranking, within_noise
from zlbench_core.tuning.early_drop import KEEP_AT_LEAST, contenders, limit_ms, survivors

H200 = json.loads((DATA / "autotune/h200_mm_timings.json").read_text())
KEYS = sorted(H200["mm1"])


def timings(record: str, key: str) -> dict[int, Timing]:
    """By the config's place, in milliseconds."""
    return {
        place: Timing.of(float("inf")) if raw is None else Timing(*(value / 1000 for value in raw))
        for place, raw in enumerate(H200[record][key])
    }


def best_of(timed: dict[int, Timing]) -> int:
    return ranking(Timed(place, timing) for place, timing in timed.items())[0].config


@pytest.mark.parametrize(("quick", "full"), [("mm1", "mm2"), ("mm2", "mm1")])
@pytest.mark.parametrize("key", KEYS)
def test_on_the_h200_the_winner_is_the_exhaustive_sweeps_or_a_near_tie(key, quick, full):
    """One record stands for the quick times, the other, minutes apart, for the full ones."""
    exhaustive = timings(full, key)
    kept = survivors(list(exhaustive), {place: one.p50 for place, one in timings(quick, key).items()})
    chosen = best_of({place: exhaustive[place] for place in kept})
    best = best_of(exhaustive)
    assert chosen == best or within_noise(exhaustive[best], exhaustive[chosen])


@pytest.mark.parametrize("key", KEYS)
def test_on_the_h200_most_configs_are_dropped(key):
    """A kernel of a few microseconds keeps more: there the timer's resolution is a third of the time."""
    quick = {place: one.p50 for place, one in timings("mm1", key).items()}
    assert len(survivors(list(quick), quick)) <= (70 if key == "384 float16" else 30) < len(quick) == 162


def test_on_the_h200_winners_that_changed_between_two_records_were_near_ties():
    changed = []
    for key in KEYS:
        one, two = timings("mm1", key), timings("mm2", key)
        if best_of(one) != best_of(two):
            changed.append(key)
            ties = [
                {timed.config for timed in near_ties(ranking(Timed(*pair) for pair in record.items()))}
                for record in (one, two)
            ]
            assert best_of(two) in ties[0] or best_of(one) in ties[1]
    assert changed == ["384 float16", "384 float32"]


@given(st.lists(st.floats(0.001, 10.0), min_size=1, max_size=40))
def test_what_is_within_the_limit_survives_in_order_and_nothing_else_but_the_fastest_three(times):
    quick = dict(enumerate(times))
    kept = survivors(list(quick), quick)
    assert kept == sorted(kept)
    within = {place for place, ms in quick.items() if ms <= limit_ms(min(times))}
    assert within <= set(kept)
    assert len(kept) == max(len(within), min(KEEP_AT_LEAST, len(times)))


def test_the_limit_is_15_percent_and_a_microsecond():
    assert limit_ms(1.0) == pytest.approx(1.151)
    assert limit_ms(0.01) == pytest.approx(0.0125)


def test_contenders_are_those_within_one_and_a_half_times_the_limit():
    assert contenders("abcd", {"a": 1.0, "b": 1.7, "c": 2.4, "d": math.inf}) == ["a", "b"]
    assert contenders("ab", {"a": math.inf, "b": math.nan}) == []


def test_a_refused_config_does_not_survive_and_one_is_kept_when_all_are():
    assert survivors(["a", "b"], {"a": math.inf, "b": 0.1}) == ["b"]
    assert survivors(["a", "b"], {"a": math.inf, "b": math.inf}) == ["a"]
    assert survivors(["a", "b"], {"a": math.nan, "b": 0.1}) == ["b"]


@pytest.mark.parametrize(
    ("best", "other", "tied"),
    [
        (Timing(0.1, 0.1, 0.1), Timing(0.1019, 0.1019, 0.1019), True),  # 2 %
        (Timing(0.1, 0.1, 0.1), Timing(0.1021, 0.1021, 0.1021), False),
        (Timing(0.1, 0.098, 0.104), Timing(0.1055, 0.105, 0.106), True),  # the winner's own spread
        (Timing(0.1, 0.1, 0.1), Timing(0.1055, 0.102, 0.108), True),  # the other's
        (Timing(0.003, 0.003, 0.003), Timing(0.0034, 0.0034, 0.0034), True),  # the events' resolution
        (Timing(0.003, 0.003, 0.003), Timing(0.0036, 0.0036, 0.0036), False),
        (Timing(0.1, 0.1, 0.1), Timing(math.inf, math.inf, math.inf), False),
    ],
)
def test_within_noise(best, other, tied):
    assert within_noise(best, other) is tied


@pytest.mark.parametrize(
    ("raw", "timing"),
    [(0.5, Timing(0.5, 0.5, 0.5)), ([0.5], Timing(0.5, 0.5, 0.5)), ((0.5, 0.4, 0.6), Timing(0.5, 0.4, 0.6))],
)
def test_a_timing_is_read_as_the_tuners_keep_it(raw, timing):
    assert Timing.of(raw) == timing
