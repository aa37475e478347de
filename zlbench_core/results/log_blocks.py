"""Follows the tables of a log: titles, headers, rows, records, and the markers printed between them."""

from __future__ import annotations

import json
import re

from zlbench_core.common.text import one_line
from zlbench_core.errors import ReadError
from zlbench_core.results.fallbacks import FALLBACK_MARKERS
from zlbench_core.results.log_report import MAX_LISTED, LogReport
from zlbench_core.results.log_table import Header, Title, parse_header, parse_row, parse_title
from zlbench_core.results.records import rows_of_record
from zlbench_core.results.rows import MAX_ROWS

MAX_MARKER_CHARS = 2000
_MARKER = re.compile(r"\b(?:BENCHMARK|AUTOTUNE)_[A-Z][A-Z0-9_]{2,60}\b")
_MAPPING = "Column mapping:"


class BlockReader:
    def __init__(self, report: LogReport) -> None:
        self.report = report
        self.title: Title | None = None
        self.header: Header | None = None
        self.pending: list[str] = []  # fallbacks since the last table: they belong to the next one
        self.mapping = ""

    @property
    def size_first(self) -> bool:
        return self.header is not None and self.header.size_first

    def feed(self, line: str, cut: bool) -> bool:
        return self._row(line, cut) or self._title(line) or self._header(line) or self._record(line)

    def see_markers(self, line: str, in_traceback: bool) -> None:
        """Count the marker words. Tracebacks repeat what was printed: there a marker counts once at most."""
        markers = self.report.markers
        found = (
            _MARKER.findall(line[:MAX_MARKER_CHARS]) if "BENCHMARK_" in line or "AUTOTUNE_" in line else ()
        )
        for marker in dict.fromkeys(found):
            if marker in markers or len(markers) < MAX_LISTED:
                markers[marker] = max(markers[marker], 1) if in_traceback else markers[marker] + 1
            if marker in FALLBACK_MARKERS and marker not in self.pending:
                self.pending.append(marker)
        if _MAPPING in line:
            self.mapping = one_line(line[line.index(_MAPPING) :])

    def _record(self, line: str) -> bool:
        """`--record log` writes `[INFO] {json}`, and other things behind the same word."""
        if not line.startswith("[INFO]"):
            return False
        try:
            self.report.records += rows_of_record(json.loads(line.removeprefix("[INFO]")))
        except (ValueError, RecursionError, ReadError):
            self.report.lose("an [INFO] line is no record")
        self._check_count(len(self.report.records))
        return True

    def _title(self, line: str) -> bool:
        title = parse_title(line)
        if title is None:
            return False
        self.title, self.header = title, None
        self.report.begun.append(title.block)
        self._check_count(len(self.report.begun))
        if self.pending:
            self.report.block_markers.setdefault(title.block, []).extend(self.pending)
        if self.mapping:
            self.report.redefined[title.op] = self.mapping
        self.pending, self.mapping = [], ""
        return True

    def _header(self, line: str) -> bool:
        if self.title is None or "Latency (ms)" not in line or (header := parse_header(line)) is None:
            return False
        self.header = header
        if header.foreign:
            self.report.redefined[self.title.op] = "columns " + ", ".join(header.foreign)
        return True

    def _row(self, line: str, cut: bool) -> bool:
        if self.title is None or (parsed := parse_row(line, self.title, self.header)) is None:
            return False
        if isinstance(parsed, str):
            self.report.lose(parsed)
        elif cut and not parsed.size_known:
            self.report.lose(f"a row of {self.title.op} that breaks off was left out")
        else:
            self.report.table.append(parsed.row)
            self._check_count(len(self.report.table))
        return True

    def _check_count(self, count: int) -> None:
        if count > MAX_ROWS:
            raise ReadError(f"more than {MAX_ROWS} rows or tables in one log")
