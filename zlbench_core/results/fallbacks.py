"""The markers that change what a row's latency means, and what they forbid."""

from __future__ import annotations

from collections.abc import Collection

DIRECT = "BENCHMARK_DIRECT_NO_CUDAGRAPH"
REPLAY = "AUTOTUNE_REPLAY_FALLBACK"
FALLBACK_MARKERS = (DIRECT, REPLAY)


def exclusion(markers_a: Collection[str], markers_b: Collection[str]) -> str | None:
    """Why a pair of rows with these markers is not compared, or None.

    Two rows that both fell back to the direct timer stand on one caliber; one alone does not. A launch
    without a pin may have run any config, on whichever side it was.
    """
    for side, markers in (("a", markers_a), ("b", markers_b)):
        if REPLAY in markers:
            return f"{side} launched a kernel without its pin ({REPLAY})"
    if (DIRECT in markers_a) != (DIRECT in markers_b):
        return f"only {'a' if DIRECT in markers_a else 'b'} fell back to the direct timer ({DIRECT})"
    return None
