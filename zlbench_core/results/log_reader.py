"""Reads what a benchmark process printed, in every form the suite had: rows, failures, markers, the end.

A log is hostile until shown otherwise: lines of any length, bytes of any kind, tables cut in the middle.
What cannot be read is named in the report's notes; only ReadError leaves this module.
"""

from __future__ import annotations

from pathlib import Path

from zlbench_core.results.log_blocks import BlockReader
from zlbench_core.results.log_lines import read_lines
from zlbench_core.results.log_outcome import OutcomeReader
from zlbench_core.results.log_pytest import MAX_CHARS, wrapper_exit
from zlbench_core.results.log_report import LogReport
from zlbench_core.results.rows import number_occurrences
from zlbench_core.results.text import strip_ansi

_TRACEBACK_STARTS = b"E_"
_SIZE_STARTS = b"0123456789N"


def read_log(path: Path | str) -> LogReport:
    """Read a log, plain or .gz, line by line. Raises ReadError where it cannot be read or has no bounds."""
    report = LogReport()
    blocks, outcome = BlockReader(report), OutcomeReader(report)
    last = b""
    for number, (raw, cut) in enumerate(read_lines(path)):
        if not raw:
            continue
        last = raw
        first = raw[:1]
        if (
            _interesting(raw)
            or (outcome.in_traceback and first in _TRACEBACK_STARTS)
            or (blocks.size_first and first in _SIZE_STARTS)
        ):
            line = strip_ansi(raw.decode("utf-8", "backslashreplace"))
            blocks.see_markers(line, outcome.in_traceback)
            if not blocks.feed(line, cut):
                outcome.feed(line, number)
    return _finished(report, last)


def _interesting(raw: bytes) -> bool:
    """A cheap first look: most lines of a log are the tuner's."""
    return (
        b"SUCCESS" in raw
        or b"Operator" in raw
        or b"FAILED" in raw
        or b"Latency (ms)" in raw
        or b"===" in raw
        or b" in " in raw
        or b"BENCHMARK_" in raw
        or b"AUTOTUNE_" in raw
        or b"[INFO]" in raw
        or b"ERROR" in raw
        or b"SKIPPED" in raw
        or b"Column mapping:" in raw
        or b"database is locked" in raw
        or b"Fatal Python error" in raw
    )


def _finished(report: LogReport, last_line: bytes) -> LogReport:
    report.table = number_occurrences(report.table)
    report.records = number_occurrences(report.records)
    report.exit_code = wrapper_exit(last_line[:MAX_CHARS].decode("utf-8", "backslashreplace"))
    return report
