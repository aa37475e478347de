"""Reads one run folder: the JSON where it is valid and of this run, else the log; both are compared."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from zlbench_core.errors import IdentityError, ReadError
from zlbench_core.records.identity import load_identity
from zlbench_core.results import samples
from zlbench_core.results.fallbacks import DIRECT
from zlbench_core.results.json_reader import JsonEntry, JsonReport, read_json, without_entries
from zlbench_core.results.log_error import announces
from zlbench_core.results.log_reader import read_log
from zlbench_core.results.log_report import LogReport
from zlbench_core.results.merge import merge_rows
from zlbench_core.results.rows import Failure, Row, RowKey, RunResult

LOG_NAME = "run.log"
JSON_NAME = "result.json"


def read_run(
    run_dir: Path | str,
    *,
    expected_nodes: Collection[str] | None = None,
    dtypes: Collection[str] | None = None,
    log_name: str = LOG_NAME,
    identity: Mapping[str, Any] | None = None,
) -> RunResult:
    """What the run in `run_dir` measured and what went wrong in it.

    `expected_nodes` (the pytest nodes that the run was asked for) and `dtypes` (asked for, with or without
    `torch.`) come from run_identity.json where they are not given, or from `identity` where that was read already:
    its `test_node`, and `dtypes` of its `measurement`.
    Raises ReadError where the folder has neither a log nor a JSON, or one that is too large.
    """
    run_dir = Path(run_dir)
    asked = _Asked.of(_identity(run_dir) if identity is None else identity, expected_nodes, dtypes)
    log = _read_log(run_dir, log_name)
    report, notes = _read_json(run_dir / JSON_NAME, log, asked.nodes)
    if log is None and report is None:
        raise ReadError(f"{run_dir} holds no {log_name} and no readable {JSON_NAME}: {'; '.join(notes)}")
    cut_off = log is not None and not log.summary and not log.never_started
    return _result(run_dir, log or LogReport(), report, asked, notes, cut_off=cut_off)


@dataclass(frozen=True)
class _Asked:
    nodes: Collection[str] | None
    dtypes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        identity: Mapping[str, Any],
        nodes: Collection[str] | None,
        dtypes: Collection[str] | None,
    ) -> _Asked:
        node = identity.get("test_node")
        measurement = identity.get("measurement")
        if dtypes is None and isinstance(measurement, Mapping):
            dtypes = measurement.get("dtypes")
        if nodes is None and isinstance(node, str):
            nodes = (node,)
        names = dtypes if isinstance(dtypes, Collection) and not isinstance(dtypes, str) else ()
        return cls(nodes, tuple("torch." + str(name).removeprefix("torch.") for name in names))


def _identity(run_dir: Path) -> Mapping[str, Any]:
    """A run without an identity can still be read; whether it may be compared is the caliber's question."""
    try:
        return load_identity(run_dir)
    except IdentityError:
        return {}


def _read_log(run_dir: Path, log_name: str) -> LogReport | None:
    for name in (log_name, f"{log_name}.gz"):
        if (path := run_dir / name).exists():
            return read_log(path)
    return None


def _read_json(
    path: Path, log: LogReport | None, nodes: Collection[str] | None
) -> tuple[JsonReport | None, list[str]]:
    """The JSON report as far as it is this run's. It is written last: a log that breaks off has none."""
    if not path.exists():
        return None, []
    if log is not None and log.summary is None:
        return None, [
            "result.json left out: the log breaks off before pytest writes it, so it is an older run's"
        ]
    try:
        report = read_json(path, nodes)
    except ReadError as error:
        return None, [str(error)]
    return (_of_this_log(report, log) if log else report), []


def _of_this_log(report: JsonReport, log: LogReport) -> JsonReport:
    foreign = [entry.name for entry in report.entries if _contradicts(entry, log)]
    return without_entries(report, foreign) if foreign else report


def _contradicts(entry: JsonEntry, log: LogReport) -> bool:
    """Whether the log of the same run denies the entry: an operator that it never prints, a failure or a skip
    that it does not count."""
    printed = {op for op, _, _ in log.begun}
    if entry.rows and printed and not any(row.op in printed for row in entry.rows):
        return True
    if log.summary and entry.outcome == "failed":
        nodes = {failure.node for failure in log.failures if failure.kind == "test"}
        return len(nodes) == log.summary.failed and entry.node not in nodes
    return bool(log.summary and entry.outcome == "skipped" and not log.summary.skipped)


def _result(
    run_dir: Path,
    log: LogReport,
    report: JsonReport | None,
    asked: _Asked,
    notes: list[str],
    *,
    cut_off: bool,
) -> RunResult:
    table, record_notes = merge_rows(log.records, log.table, "the [INFO] records")
    json_rows = report.rows if report else []
    rows, merge_notes = merge_rows(json_rows, table, JSON_NAME)
    return RunResult(
        rows=tuple(rows),
        failures=tuple(_failures(log, report)),
        partial_dtypes=tuple(_partial_dtypes(rows, log, asked.dtypes)),
        markers=dict(log.markers),
        notes=(*notes, *log.notes, *(report.notes if report else ()), *record_notes, *merge_notes),
        pytest_summary=log.summary,
        exit_code=log.exit_code,
        cut_off=cut_off,
        skipped=tuple((report.skipped if report else []) or log.skipped),
        redefined=tuple(log.redefined),
        row_markers=_row_markers(run_dir, rows, log, rounded=not json_rows),
        source="+".join(name for name, found in (("json", json_rows), ("log", table)) if found) or "none",
    )


def _failures(log: LogReport, report: JsonReport | None) -> Iterable[Failure]:
    """Each failed test once, with the JSON's reason where it has one; unnamed failures count too."""
    known = [_told(failure, log) for failure in report.failures] if report else []
    nodes = {failure.node for failure in known}
    named = [
        *known,
        *(failure for failure in log.failures if failure.node is None or failure.node not in nodes),
    ]
    yield from named
    counted = log.summary.failed + log.summary.errors if log.summary else 0
    listed = sum(failure.kind in ("test", "error") for failure in named)
    if counted > listed:
        yield Failure("test", f"pytest counts {counted} failures, of which the log names {listed}")


def _told(failure: Failure, log: LogReport) -> Failure:
    """The suite's JSON holds an error without the one that it was raised from; the log has both."""
    if not announces(failure.message):
        return failure
    same = (one.message for one in log.failures if one.node == failure.node)
    return replace(failure, message=next(same, failure.message))


def _partial_dtypes(rows: Sequence[Row], log: LogReport, asked: Collection[str]) -> Iterable[str]:
    """The dtype blocks without a row: those asked for, of each operator that has rows, and those begun."""
    have = {(row.op, row.dtype) for row in rows}
    wanted = [(op, dtype) for op in dict.fromkeys(row.op for row in rows) for dtype in asked]
    begun = [(op, dtype) for op, dtype, _ in log.begun]
    for op, dtype in dict.fromkeys([*wanted, *begun]):
        if (op, dtype) not in have:
            yield f"{op}: {dtype}"


def _row_markers(
    run_dir: Path, rows: Sequence[Row], log: LogReport, rounded: bool
) -> dict[RowKey, tuple[str, ...]]:
    """Which rows a fallback concerns: the timed calls know it per row, the log per table."""
    calls = _calls(run_dir, rows, log, rounded)
    markers: dict[RowKey, tuple[str, ...]] = {}
    for row in rows if log.block_markers or calls else ():
        found = list(dict.fromkeys(log.block_markers.get(row.block, ())))
        if calls is not None and (own := calls[row.key]).measured is not None:
            found = [marker for marker in found if marker != DIRECT]
            found += [DIRECT] if own.fallback else []
        if found:
            markers[row.key] = tuple(found)
    return markers


def _calls(
    run_dir: Path, rows: Sequence[Row], log: LogReport, rounded: bool
) -> Mapping[RowKey, samples.RowCalls] | None:
    path = run_dir / samples.FILE_NAME
    if not log.markers.get(DIRECT) or not path.exists():
        return None
    return samples.calls_of_rows(rows, samples.read_samples(path), rounded=rounded)
