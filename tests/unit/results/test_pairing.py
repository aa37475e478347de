from __future__ import annotations

from zlbench_core.results.pairing import pair_rows
from zlbench_core.results.rows import Row, number_occurrences


def rows(*sizes_and_latencies, **fields):
    made = [
        Row("mm", "torch.float16", "kernel", "core", size, latency=latency)
        for size, latency in sizes_and_latencies
    ]
    return number_occurrences(row._replace(**fields) for row in made)


def test_equal_sizes_pair_by_their_occurrence():
    a, b = rows(("X", 1.0), ("Y", 2.0), ("X", 4.0)), rows(("X", 1.5), ("X", 2.0), ("Y", 2.0))
    pairing = pair_rows(a, b)
    assert [(pair.a.size, pair.a.occurrence, pair.ratio) for pair in pairing.paired] == [
        ("X", 0, 1.5),
        ("Y", 0, 1.0),
        ("X", 1, 0.5),
    ]
    assert (pairing.only_a, pairing.only_b, pairing.refused) == ((), (), ())


def test_a_size_that_the_sides_have_in_different_numbers_is_refused_by_name():
    a, b = rows(("X", 1.0), ("Y", 2.0), ("X", 1.1), ("Y", 2.1)), rows(("X", 1.0), ("Y", 2.0), ("X", 1.0))
    pairing = pair_rows(a, b)
    assert [pair.a.size for pair in pairing.paired] == ["X", "X"]
    (refusal,) = pairing.refused
    assert (refusal.size, refusal.occurrence) == ("Y", None)
    assert "a has 2 rows of this size, b has 1" in str(refusal)


def test_rows_of_one_side_only_are_named():
    pairing = pair_rows(rows(("X", 1.0), ("Y", 1.0)), rows(("X", 1.0), ("Z", 1.0)))
    assert ([row.size for row in pairing.only_a], [row.size for row in pairing.only_b]) == (["Y"], ["Z"])


def test_other_modes_and_dtypes_are_other_rows():
    for field, other in (("mode", "cudagraph"), ("dtype", "torch.float32"), ("op", "bmm")):
        pairing = pair_rows(rows(("X", 1.0)), rows(("X", 1.0), **{field: other}))
        assert pairing.paired == ()
        assert len(pairing.only_a) == len(pairing.only_b) == 1


def test_only_rows_that_succeeded_with_a_positive_latency_count():
    good = rows(("X", 1.0))
    for bad in (
        rows(("X", None)),
        rows(("X", 0.0)),
        rows(("X", -1.0)),
        rows(("X", float("nan"))),
        rows(("X", float("inf"))),
        rows(("X", 1.0), status="FAILED", error="boom"),
    ):
        for a, b, side in ((good, bad, "b"), (bad, good, "a")):
            pairing = pair_rows(a, b)
            assert pairing.paired == ()
            assert pairing.refused[0].reason.startswith(f"{side} ")


def test_rows_of_two_runs_in_one_list_are_refused_and_not_paired_last_wins():
    pairing = pair_rows(rows(("X", 1.0)) + rows(("X", 9.0)), rows(("X", 1.0), ("X", 2.0)))
    assert pairing.paired == ()
    assert "does not number" in pairing.refused[0].reason
