"""Rows and operators that the verdict tests share."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import settings

from zlbench_core.verdicts import Looks, OperatorVerdict, RowRounds, decide_operator

# No deadline: on a machine that is shared, how long an example takes is nobody's fault.
EXAMPLES = settings(max_examples=40, deadline=None)

# Six rounds whose mean is 0 and whose standard deviation is small beside the margin of 0.5%.
WOBBLE = (0.0004, -0.0003, 0.0001, -0.0004, 0.0003, -0.0001)
STEADY_FASTER = tuple(-0.02 + step for step in WOBBLE)
STEADY_SLOWER = tuple(0.02 + step for step in WOBBLE)


def row(log_ratios: Sequence[float | None], size: str = "[4096, 4096]", **fields: object) -> RowRounds:
    values = {"t_a_ms": 0.05, "t_b_ms": 0.05, **fields}
    return RowRounds("mm", "float16", "kernel", size, 0, tuple(log_ratios), **values)


def decide(*rows: RowRounds, op: str = "mm", **options: object) -> OperatorVerdict:
    return decide_operator(op, rows, **{"ir": "different", "refusals": [], **options})


def operator(op: str, log_ratios: Sequence[float | None], looks: Looks | None = None, **options: object):
    one = RowRounds(op, "float16", "kernel", "[64]", 0, tuple(log_ratios), 0.05, 0.05)
    return decide(one, op=op, looks=looks, **options)
