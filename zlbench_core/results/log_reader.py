"""Reads what a benchmark process printed, in every form the suite had: rows, failures, markers, the end.

A log is hostile until shown otherwise: lines of any length, bytes of any kind, tables cut in the middle.
What cannot be read is named in the report's notes; only ReadError leaves this module.
"""

from __future__ import annotations

import re
from pathlib import Path

from zlbench_core.common.text import strip_ansi
from zlbench_core.results.log_blocks import BlockReader
from zlbench_core.results.log_error import CHAINED
from zlbench_core.results.log_lines import read_blocks
from zlbench_core.results.log_outcome import OutcomeReader
from zlbench_core.results.log_pytest import MAX_CHARS, wrapper_exit
from zlbench_core.results.log_report import LogReport
from zlbench_core.results.rows import number_occurrences

_TRACEBACK_STARTS = b"E_\x1b"
_SIZE_STARTS = b"0123456789N"
_WORDS = (
    b"SUCCESS",
    b"FAILED",
    b"Operator",
    b"Latency (ms)",
    b"===",
    b" in ",  # "1 passed in 0.13s", which -q does not frame
    b"BENCHMARK_",
    b"AUTOTUNE_",
    b"[INFO]",
    b"ERROR",
    b"SKIPPED",
    b"Column mapping:",
    b"database is locked",
    b"Fatal Python error",
    b": error: ",
    b"while loading conftest",
    CHAINED.encode(),
)
_INTERESTING = re.compile(b"|".join(map(re.escape, _WORDS))).search


def read_log(path: Path | str) -> LogReport:
    """Read a log, plain or .gz, block by block. Raises ReadError where it cannot be read or has no bounds."""
    reader = _LogReader()
    for lines, cut in read_blocks(path):
        reader.feed(lines, cut)
    return reader.finish()


class _LogReader:
    def __init__(self) -> None:
        self.report = LogReport()
        self.blocks = BlockReader(self.report)
        self.outcome = OutcomeReader(self.report)
        self.number = 0
        self.tail = b""

    def feed(self, lines: bytes, cut: bool) -> None:
        """Most blocks of a long log hold the tuner's lines alone: they are passed over as a whole."""
        self.tail = lines[-MAX_CHARS:] if lines.strip() else self.tail
        if not self._between_tables() or any(word in lines for word in _WORDS):
            *whole, last = lines.split(b"\n")
            for line in whole:
                self._feed_line(line, False)
            self._feed_line(last, cut)

    def _between_tables(self) -> bool:
        return not (self.outcome.in_traceback or self.blocks.size_first)

    def _feed_line(self, raw: bytes, cut: bool) -> None:
        self.number += 1
        if (
            _INTERESTING(raw)
            or (self.outcome.in_traceback and raw[:1] in _TRACEBACK_STARTS)
            or (self.blocks.size_first and raw[:1] in _SIZE_STARTS)
        ):
            line = strip_ansi(raw.decode("utf-8", "backslashreplace"))
            self.blocks.see_markers(line, self.outcome.in_traceback)
            if not self.blocks.feed(line, cut):
                self.outcome.feed(line, self.number)
        if self.outcome.in_traceback and raw.strip():
            self.outcome.line_before = raw[:MAX_CHARS].decode("utf-8", "backslashreplace")

    def finish(self) -> LogReport:
        last_line = self.tail.rstrip().rpartition(b"\n")[2]
        self.report.exit_code = wrapper_exit(last_line.decode("utf-8", "backslashreplace"))
        self.report.table = number_occurrences(self.report.table)
        self.report.records = number_occurrences(self.report.records)
        return self.report
