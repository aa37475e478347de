from __future__ import annotations

import pytest

from tests.unit.run.duet.duet_fakes import settings
from zlbench_core.records.messages import DIRECT, GRAPH
from zlbench_core.run.duet.sizes import Block, block_of, enlarged, launches_per_sample, superblocks_of


@pytest.mark.parametrize(
    ("way", "estimate_ms", "launches"),
    [
        (DIRECT, 0.020, 1),  # long enough by itself, and then the cache can be flushed
        (DIRECT, 0.0199, 13),
        (DIRECT, 0.002, 125),
        (GRAPH, 0.020, 13),
        (GRAPH, 0.198, 2),
        (GRAPH, 5.0, 1),
        (GRAPH, 0.0, 1000),  # shorter than the clock can tell
    ],
)
def test_short_launches_are_sampled_many_at_a_time(way: str, estimate_ms: float, launches: int) -> None:
    assert launches_per_sample(way, estimate_ms) == launches


@pytest.mark.parametrize(("sample_ms", "count"), [(0.25, 16), (1.0, 4), (50.0, 3), (0.001, 200), (0.0, 200)])
def test_a_block_lasts_a_few_milliseconds_within_bounds(sample_ms: float, count: int) -> None:
    assert block_of(settings(block_ms=4.0, discard=4), sample_ms) == Block(4, count)


def test_very_long_launches_get_fewer_superblocks_but_never_fewer_than_four_of_those_asked_for() -> None:
    block = Block(4, 3)
    assert superblocks_of(settings(superblocks=12), block, 0.25) == 12
    assert superblocks_of(settings(superblocks=12), block, 20.0) == 7
    assert superblocks_of(settings(superblocks=12), block, 500.0) == 4
    assert superblocks_of(settings(superblocks=2), block, 500.0) == 2


@pytest.mark.parametrize(
    ("launches", "sample_ms", "wanted"),
    [(1, 0.004, 63), (1, 0.2, 1), (50, 0.25, 50), (2, 0.1, 5), (1, 0.0, 1000), (500, 0.001, 1000)],
)
def test_a_graph_that_turned_out_short_gets_more_launches(launches, sample_ms, wanted) -> None:
    assert enlarged(launches, sample_ms) == wanted
