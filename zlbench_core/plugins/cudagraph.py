"""The timer's public face: the direct timer that a fallback uses, and the names that others patch or read."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from zlbench_core.backends import graph_class as _graph_class
from zlbench_core.records.run_env import DIRECT_REPEAT
from zlbench_core.timing.direct import parse_repeat, repeated

__all__ = ["_ORIGINAL_DO_BENCH", "_graph_class", "direct_repeat", "run_direct"]

# triton.testing.do_bench as it was before the timing plugin replaced it; None until then.
_ORIGINAL_DO_BENCH: Callable[..., Any] | None = None


def direct_repeat() -> int:
    """How often the direct timer is repeated for one latency: ZL_DIRECT_REPEAT, at least 1."""
    return parse_repeat(os.environ.get(DIRECT_REPEAT))


def run_direct(
    fn: Callable[[], Any],
    warmup: float,
    rep: float,
    grad_to_none: Sequence[Any] | None,
    quantiles: Sequence[float] | None,
    return_mode: str,
) -> Any:
    """Upstream's do_bench (budgets and result in ms), as the median over ZL_DIRECT_REPEAT calls.

    Where quantiles or return_mode="all" ask for a sequence there is one call, whatever it gives.
    """
    bench = _ORIGINAL_DO_BENCH or _upstream()
    return repeated(
        lambda: bench(
            fn,
            warmup=warmup,
            rep=rep,
            grad_to_none=grad_to_none,
            quantiles=quantiles,
            return_mode=return_mode,
        ),
        1 if quantiles is not None or return_mode == "all" else direct_repeat(),
    )


def _upstream() -> Callable[..., Any]:
    import triton.testing

    return triton.testing.do_bench
