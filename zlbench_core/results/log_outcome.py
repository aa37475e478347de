"""Follows what pytest and the suite say of the outcome: failures with reasons, skips, the closing line."""

from __future__ import annotations

from dataclasses import replace

from zlbench_core.common.text import one_line, printable
from zlbench_core.results import log_pytest
from zlbench_core.results.log_error import CHAINED, ErrorBlock, chained_cause
from zlbench_core.results.log_report import MAX_LISTED, LogReport
from zlbench_core.results.log_table import after_progress
from zlbench_core.results.rows import Failure, PytestSummary

DATABASE_LOCKED = "database is locked"  # the tuner's
BLAMED_ON_THE_MACHINE = ("BENCHMARK_ENVIRONMENT_FAILURE", "BENCHMARK_DEVICE_FAULT")  # by the timing plugin
FATAL_ERROR = "Fatal Python error"
_USAGE = "ERROR: usage: "
_CONFTEST = "ImportError while loading conftest"


class OutcomeReader:
    def __init__(self, report: LogReport) -> None:
        self.report = report
        self.in_traceback = False
        self.failing_test = ""
        self.last_error: dict[str, str] = {}  # test name -> the last error of its traceback
        self.block = ErrorBlock()
        self.line_before = ""  # not blank, in a traceback
        self.cause = ""
        self.told_before = ""  # of a conftest.py, before the error that is being read
        self.error_line_number = -1
        self.usage_line_number = -1

    def feed(self, line: str, number: int) -> bool:
        self._general(line)
        return (
            self._event(line)
            or self._traceback(line, number)
            or self._short_summary(line)
            or self._closing(line)
            or self._usage_error(line, number)
            or self._skipped(line)
        )

    def _general(self, line: str) -> None:
        """Facts that stand anywhere: said once, by the line that says them first."""
        if DATABASE_LOCKED in line:
            self._fail_once(Failure("infrastructure", one_line(line)))
        elif blamed := next((word for word in BLAMED_ON_THE_MACHINE if word in line), None):
            self._fail_once(Failure("infrastructure", one_line(line[line.index(blamed) :])))
        elif line.startswith(FATAL_ERROR):
            self._fail_once(Failure("crash", one_line(line)))

    def _fail_once(self, failure: Failure) -> None:
        if all(known.kind != failure.kind for known in self.report.failures):
            self.report.fail(failure)

    def _event(self, line: str) -> bool:
        """The suite's own word of a failure. Its fields are not trusted: upstream leaves two unfilled."""
        rest = after_progress(line[: log_pytest.MAX_CHARS], "FAILED: Operator=")
        if rest is None:
            return False
        self.report.fail(Failure("event", one_line(rest), op=printable(rest.split(" ", 1)[0])))
        return True

    def _traceback(self, line: str, number: int) -> bool:
        """The last error of each test's traceback: the short summary cuts reasons to the terminal's width."""
        if not self.in_traceback:
            return False
        if line.startswith("E  ") or line == "E":
            self._error_line(line[1:], number)
        elif line.startswith(CHAINED):
            self.cause = chained_cause(self.line_before, self.block)
        elif (name := log_pytest.test_name(line)) is not None:
            self.failing_test = name
        else:
            return False
        return True

    def _error_line(self, text: str, number: int) -> None:
        new = number != self.error_line_number + 1
        if new:
            self.block, self.cause = ErrorBlock(before=self.cause), ""
        self.block.add(text)
        if self.failing_test in self.last_error or len(self.last_error) < MAX_LISTED:
            self.last_error[self.failing_test] = self.block.reason
            self._name_conftest_error(self.block.reason, new)
        self.error_line_number = number

    def _name_conftest_error(self, error: str, new: bool) -> None:
        """Before any session the only traceback is that of a conftest.py that does not import."""
        known = self.report.failures
        if not self.report.sessions and known and known[-1].message.startswith(_CONFTEST):
            self.told_before = known[-1].message if new else self.told_before
            known[-1] = replace(known[-1], message=f"{self.told_before} {error}")

    def _short_summary(self, line: str) -> bool:
        found = log_pytest.short_summary(line)
        if found is None:
            return False
        word, node, reason = found
        whole = self.last_error.get(node.rpartition("::")[2])
        kind = "test" if word == "FAILED" else "error"
        self.report.fail(Failure(kind, whole or one_line(reason), node=printable(node)))
        return True

    def _closing(self, line: str) -> bool:
        if (summary := log_pytest.parse_summary(line)) is not None:
            self.report.summary = _added(self.report.summary, summary)
        elif (section := log_pytest.section_name(line)) is not None:
            self.in_traceback = section in ("FAILURES", "ERRORS")
            self.report.sessions += section == "test session starts"
        else:
            return False
        return True

    def _usage_error(self, line: str, number: int) -> bool:
        """Why pytest could not start. Its usage stands before the reason, a conftest's name before the error."""
        if line.startswith(_USAGE):
            self.usage_line_number = number
        elif line.startswith("ERROR: "):
            self.report.fail(Failure("error", one_line(line.removeprefix("ERROR: "))))
        elif line.startswith(_CONFTEST):
            self.report.fail(Failure("error", one_line(line)))
            self.in_traceback = True
        elif number == self.usage_line_number + 1 and ": error: " in line:
            self.report.fail(Failure("error", one_line(line.partition(": error: ")[2])))
        else:
            return False
        return True

    def _skipped(self, line: str) -> bool:
        if not line.startswith("SKIPPED ["):
            return False
        if len(self.report.skipped) < MAX_LISTED:
            self.report.skipped.append(one_line(line.partition("] ")[2]))
        return True


def _added(old: PytestSummary | None, new: PytestSummary) -> PytestSummary:
    """More than one session in a log: a failure of any of them stays one."""
    if old is None:
        return new
    return replace(
        new,
        passed=old.passed + new.passed,
        failed=old.failed + new.failed,
        errors=old.errors + new.errors,
        skipped=old.skipped + new.skipped,
    )
