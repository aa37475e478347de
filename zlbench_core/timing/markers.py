"""The lines that a log is searched for. One line each: a marker word, then what it concerns, then why."""

from __future__ import annotations

DIRECT_NO_CUDAGRAPH = "BENCHMARK_DIRECT_NO_CUDAGRAPH"
CAPTURE_POISONED = "BENCHMARK_CAPTURE_POISONED"
FATAL = "BENCHMARK_FATAL"
DEVICE_FAULT = "BENCHMARK_DEVICE_FAULT"
ENVIRONMENT_FAILURE = "BENCHMARK_ENVIRONMENT_FAILURE"
ROW_LOST = "BENCHMARK_ROW_LOST"
NOT_MEASURED = "BENCHMARK_NOT_MEASURED"
MAX_REASON = 400


def marker_line(marker: str, node: str, seq: int | None, reason: str) -> str:
    """`MARKER node=... row=N: reason`, the reason on one line and at most MAX_REASON characters long."""
    row = "" if seq is None else f" row={seq}"
    return f"{marker} node={node}{row}: {' '.join(reason.split())[:MAX_REASON]}"


def failure_marker(verdict: str, blame: str) -> str:
    """The marker of an error that ends a process's measuring."""
    if blame == "environment":
        return ENVIRONMENT_FAILURE
    if blame == "device":
        return DEVICE_FAULT
    return CAPTURE_POISONED if verdict == "poisoned" else FATAL
