"""Reads the report of `--record json --output`, which the suite merges into whatever report was there before.

    {entry: {"result": "passed"|"failed"|"skipped", "test_case": node, "reason": ..., "details": [record]}}

The entry's name is the test's first marker; a record's `op_name` may differ, and then stands in an entry of
its own that has no `test_case`. An entry of another run is told by its test node.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from zlbench_core.common.text import printable, shortened
from zlbench_core.errors import ReadError
from zlbench_core.results.log_error import error_reason
from zlbench_core.results.records import rows_of_record
from zlbench_core.results.rows import MAX_ROWS, Failure, Row, number_occurrences

MAX_JSON_BYTES = 64 << 20
_READ_BYTES = 1 << 16


@dataclass(frozen=True)
class JsonEntry:
    """One entry of the report. `outcome` and `node` are None where the entry only carries rows."""

    name: str
    node: str | None
    outcome: str | None
    reason: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class JsonReport:
    """The entries of this run; `foreign` names the entries that are another run's."""

    entries: tuple[JsonEntry, ...] = ()
    foreign: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> list[Row]:
        return number_occurrences(row for entry in self.entries for row in entry.rows)

    @property
    def failures(self) -> list[Failure]:
        return [
            Failure("test", entry.reason, op=entry.name, node=entry.node)
            for entry in self.entries
            if entry.outcome == "failed"
        ]

    @property
    def skipped(self) -> list[str]:
        return [f"{entry.name}: {entry.reason}" for entry in self.entries if entry.outcome == "skipped"]


def read_json(path: Path | str, expected_nodes: Collection[str] | None = None) -> JsonReport:
    """Read a report. With `expected_nodes` (pytest nodes or files) entries of other tests are left out.

    Raises ReadError where it is missing, larger than 64 MiB, no JSON, or not in the suite's form.
    """
    entries = [_entry(str(name), value, path) for name, value in _load(path).items()]
    if sum(len(entry.rows) for entry in entries) > MAX_ROWS:
        raise ReadError(f"result file {path} holds more than {MAX_ROWS} rows")
    foreign = [entry.name for entry in entries if not _expected(entry, expected_nodes)]
    if foreign:  # an entry without a node may then be as old as the foreign ones: only the log can tell
        foreign += [entry.name for entry in entries if entry.node is None]
    kept = tuple(entry for entry in entries if entry.name not in foreign)
    return JsonReport(kept, tuple(foreign), tuple(_notes(foreign)))


def _load(path: Path | str) -> dict[str, Any]:
    try:
        with open(path, "rb") as stream:
            content = _read_bounded(stream)
        if len(content) > MAX_JSON_BYTES:
            raise ReadError(f"result file {path} is larger than {MAX_JSON_BYTES} bytes")
        report = json.loads(content)
    except (OSError, ValueError, RecursionError) as error:
        raise ReadError(f"cannot read result file {path}: {error}") from None
    if not isinstance(report, dict):
        raise ReadError(f"result file {path} holds a {type(report).__name__}; an object is expected")
    return report


def _read_bounded(stream: BinaryIO) -> bytes:
    """At most one piece more than is allowed. Asked for all at once, so much memory would be claimed for each file."""
    pieces, seen = [], 0
    while seen <= MAX_JSON_BYTES and (piece := stream.read(_READ_BYTES)):
        pieces.append(piece)
        seen += len(piece)
    return b"".join(pieces)


def _entry(name: str, value: Any, path: Path | str) -> JsonEntry:
    name = shortened(printable(name), 500)
    details = value.get("details", []) if isinstance(value, dict) else None
    if not isinstance(details, list):
        raise ReadError(f"result file {path}: entry {name!r} is not in the suite's form")
    try:
        rows = [row for record in details for row in rows_of_record(record)]
    except (ReadError, RecursionError) as error:
        raise ReadError(f"result file {path}: entry {name!r}: {error}") from None
    outcome, node, reason = value.get("result"), value.get("test_case"), value.get("reason")
    return JsonEntry(
        name,
        printable(node) if isinstance(node, str) else None,
        outcome if isinstance(outcome, str) else None,
        error_reason(str(reason)) if reason is not None else "",
        tuple(rows),
    )


def _expected(entry: JsonEntry, nodes: Collection[str] | None) -> bool:
    return nodes is None or entry.node is None or any(node_matches(entry.node, node) for node in nodes)


def node_matches(node: str, asked: str) -> bool:
    """Whether the pytest node `node` is, or is part of, the node or file that was asked for.

    Paths are compared from their ends: the suite writes them relative to its root, a caller may not.
    """
    file, _, test = node.partition("::")
    asked_file, _, asked_test = asked.partition("::")
    inside = not asked_test or test == asked_test or test.startswith((asked_test + "[", asked_test + "::"))
    return inside and (_ends_with(file, asked_file) or _ends_with(asked_file, file))


def _ends_with(path: str, end: str) -> bool:
    return path == end or path.endswith("/" + end.removeprefix("./"))


def _notes(foreign: list[str]) -> Iterator[str]:
    if foreign:
        names = ", ".join(foreign[:5]) + (", ..." if len(foreign) > 5 else "")
        yield f"result.json: {len(foreign)} entries of another run were left out (merged report): {names}"


def without_entries(report: JsonReport, names: Collection[str]) -> JsonReport:
    """The report without the entries called `names`, and a note that says so."""
    foreign = [entry.name for entry in report.entries if entry.name in names]
    kept = tuple(entry for entry in report.entries if entry.name not in names)
    return JsonReport(kept, (*report.foreign, *foreign), (*report.notes, *_notes(foreign)))
