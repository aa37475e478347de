from __future__ import annotations

import math
from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.unit.verdicts.verdict_rows import EXAMPLES, decide, operator
from zlbench_core.records.superblock import superblock_log_ratio
from zlbench_core.verdicts import RowRounds, Superblock, Verdict, decide_campaign
from zlbench_core.verdicts.model import CLAIMS

MIRROR = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}
EFFECTS = st.sampled_from([-0.05, -0.02, -0.006, 0.0, 0.003, 0.006, 0.02])
NOISE = st.sampled_from([1e-5, 0.0005, 0.002, 0.01])


@st.composite
def rows_of_rounds(draw: st.DrawFn) -> list[RowRounds]:
    """One to three rows over the same 5 to 13 rounds, some of them lost, around a few effects and noises."""
    rounds = draw(st.sampled_from([5, 6, 6, 6, 9, 12, 12, 13]))
    firsts = draw(
        st.sampled_from([(), tuple("abba"[number % 4] for number in range(rounds)), ("a",) * rounds])
    )
    rows = []
    for number in range(draw(st.integers(1, 3))):
        effect, noise = draw(EFFECTS), draw(NOISE)
        around = st.one_of(st.floats(-3, 3, allow_nan=False), st.floats(-1, 1, allow_nan=False))
        drawn = [draw(around) for _ in range(rounds)]
        lost = {draw(st.integers(0, rounds - 1))} if draw(st.booleans()) and draw(st.booleans()) else set()
        y = tuple(None if r in lost else effect + noise * value for r, value in enumerate(drawn))
        spans = tuple(draw(st.sampled_from([(0.03,) * rounds, (0.001,) * rounds, ()])))
        times = draw(st.sampled_from([(0.05, 0.05), (0.002, 0.0021)]))
        rows.append(RowRounds("mm", "float16", "kernel", f"[{number}]", 0, y, *times, 1, spans, firsts))
    return rows


def swapped(row: RowRounds) -> RowRounds:
    mirrored = tuple(None if y is None else -y for y in row.log_ratios)
    spans = tuple(-span for span in row.spans)
    firsts = tuple({"a": "b", "b": "a"}[first] for first in row.firsts)
    times = {"t_a_ms": row.t_b_ms, "t_b_ms": row.t_a_ms}
    return replace(row, log_ratios=mirrored, spans=spans, firsts=firsts, **times)


@given(rows_of_rounds())
@EXAMPLES
def test_swapping_the_sides_mirrors_every_verdict(rows):
    there, back = decide(*rows), decide(*map(swapped, rows))
    assert back.verdict == MIRROR.get(there.verdict, there.verdict)
    assert (back.rounds_needed, back.next_rounds) == (there.rounds_needed, there.next_rounds)
    assert [r.verdict for r in back.rows] == [MIRROR.get(r.verdict, r.verdict) for r in there.rows]
    if there.evidence is not None:
        assert back.evidence.theta == -there.evidence.theta
        assert (back.evidence.p, back.evidence.sd) == (there.evidence.p, there.evidence.sd)
        assert back.evidence.ci == tuple(-bound for bound in reversed(there.evidence.ci))


@given(rows_of_rounds(), st.randoms(use_true_random=False))
@EXAMPLES
def test_the_order_of_rounds_and_rows_changes_nothing(rows, random):
    used = min(12, len(rows[0].log_ratios))
    rows = [row.first_rounds(used) for row in rows]
    order = random.sample(range(used), used)
    shuffled = [
        replace(
            row,
            log_ratios=tuple(row.log_ratios[r] for r in order),
            firsts=tuple(row.firsts[r] for r in order if row.firsts),
        )
        for row in rows
    ]
    one, other = decide(*rows).to_json(), decide(*reversed(shuffled)).to_json()
    # Whether the sides drift apart from round to round is a matter of the order.
    assume("drift" not in f"{one['detail']} {other['detail']}")
    assume(not any(row["drift"] for row in (*one["rows"], *other["rows"])))
    one["rows"].sort(key=lambda row: row["size"])
    other["rows"].sort(key=lambda row: row["size"])
    one["excluded"], other["excluded"] = sorted(one["excluded"]), sorted(other["excluded"])
    assert one == other


def built(times: list[list[float]], scale: float) -> RowRounds:
    superblocks = [
        Superblock("ABBA", tuple((scale * value,) * 3 for value in (1.0, b, b, 1.0))) for (b,) in times
    ]
    y = tuple(map(superblock_log_ratio, superblocks))
    return RowRounds("mm", "float16", "kernel", "[64]", 0, y, scale, scale)


@given(
    st.lists(st.lists(st.floats(0.9, 1.1), min_size=1, max_size=1), min_size=6, max_size=6),
    st.sampled_from([0.5, 3.0, 100.0]),
)
@EXAMPLES
def test_scaling_both_sides_changes_nothing(times, scale):
    small, large = decide(built(times, 1.0)), decide(built(times, scale))
    assert (small.verdict, small.evidence.p, small.next_rounds) == (
        large.verdict,
        large.evidence.p,
        large.next_rounds,
    )
    assert math.isclose(small.evidence.theta, large.evidence.theta, abs_tol=1e-12)


@given(rows_of_rounds())
@EXAMPLES
def test_a_claim_always_has_the_rounds_the_p_and_the_interval(rows):
    verdict = decide(*rows)
    for one in (verdict, *verdict.rows):
        if one.verdict in CLAIMS:
            limit = math.log1p(one.evidence.delta)
            low, high = one.evidence.ci
            assert one.evidence.rounds >= 6
            assert one.evidence.p <= 0.05
            assert high < -limit if one.verdict is Verdict.FASTER else low > limit


@given(
    st.lists(st.tuples(EFFECTS, NOISE), min_size=1, max_size=6),
    st.sampled_from(["gate", "survey"]),
    st.integers(0, 1000),
)
@EXAMPLES
def test_a_campaign_takes_claims_away_and_never_makes_one(operators, policy, seed):
    shape = [math.sin(seed + 1.7 * k) for k in range(6)]
    alone = [
        operator(f"op{k}", [effect + noise * value for value in shape])
        for k, (effect, noise) in enumerate(operators)
    ]
    for before, after in zip(alone, decide_campaign(alone, policy=policy).operators, strict=True):
        assert after.adjusted_p >= before.adjusted_p
        assert after.verdict == before.verdict or (
            before.verdict in CLAIMS and after.verdict is Verdict.UNDECIDED
        )
