"""One line a finished step, in place of what Snakemake prints: that stands whole in its own log.

It rests on Snakemake's log events. Where these are not as expected, and wherever the user asked for another console
(--verbose, --quiet, --debug-dag, --logger), Snakemake's own output stands.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from zlbench_core.common.plural import count
from zlbench_core.common.step import INTERRUPTED
from zlbench_core.start.plan_changes import PlanChanges

# The exit code that the step of these log files wrote down, having told its failure in a line; None: it told nothing.
Told = Callable[[Sequence[str]], int | None]

_PLAIN_HANDLER = "DefaultStreamHandler"
_EVENTS = {"WORKFLOW_STARTED", "RUN_INFO", "JOB_INFO", "JOB_FINISHED", "JOB_ERROR", "SHELLCMD"}
_NOISE_BEFORE = "Assuming unrestricted shared filesystem usage."
_NEWS = ("Nothing to be done", "Terminating processes", "Will exit after", "Trying to restart")
_COMMAND_FAILED = "returned non-zero exit status"
_SAYS_THAT_A_JOB_FAILED = ("Exiting because a job execution failed", "At least one job did not complete")
_FILES = re.compile(r"^(?P<what>[^:]+): (?P<first>[^,]+), (?P<more>.+)$", re.DOTALL)


def install_console(workflow: Any, told: Told, changes: PlanChanges) -> bool:
    """Put the quiet console in the place of Snakemake's; whether it was done."""
    try:
        from snakemake.logging import logger
        from snakemake_interface_logger_plugins.common import LogEvent

        asked = workflow.output_settings
        if asked.verbose or asked.debug_dag or asked.quiet or not set(LogEvent.__members__) >= _EVENTS:
            return False
        [plain] = [handler for handler in logger.handlers if handler.name == _PLAIN_HANDLER]
        console = Console(plain, workflow, told, changes)
    except (ImportError, AttributeError, ValueError):
        return False
    logger.removeHandler(plain)
    logger.addHandler(console)
    return True


class Console(logging.Handler):
    """Turns Snakemake's records into lines; a record that it makes nothing of goes to Snakemake's own handler."""

    def __init__(self, plain: logging.Handler, workflow: Any, told: Told, changes: PlanChanges) -> None:
        super().__init__()
        self._plain, self._workflow, self._told, self._changes = plain, workflow, told, changes
        self._dry_run: bool = workflow.output_settings.dryrun
        self._started = self._counted = self._broken = False
        self._jobs: dict[int, tuple[str, float]] = {}
        self._done = self._targets = 0
        self._failed: list[int | None] = []
        self._commands_failed: list[logging.LogRecord] = []
        self._of_event: dict[str, Callable[[logging.LogRecord], list[str] | None]] = {
            "workflow_started": self._workflow_started,
            "run_info": self._run_info,
            "job_info": self._job_info,
            "job_finished": self._job_finished,
            "job_error": self._job_error,
            "group_error": lambda record: None,
            "shellcmd": lambda record: None,
        }

    @property
    def _target(self) -> str | None:
        """The rule that only names files; known when the Snakefile is read, after this console is in place."""
        return self._workflow.default_target

    def emit(self, record: logging.LogRecord) -> None:
        lines = self._lines(record)
        if lines is None:
            self._plain.handle(record)
            return
        for line in lines:
            print(line, file=self._plain.stream, flush=True)  # type: ignore[attr-defined]

    def close(self) -> None:
        self._tell_commands()
        super().close()

    def _tell_commands(self) -> None:
        for record in self._commands_failed:
            self._plain.handle(record)
        self._commands_failed.clear()

    def _lines(self, record: logging.LogRecord) -> list[str] | None:
        """None: as Snakemake prints it. That holds for all records once one was not as expected."""
        if self._broken:
            return None
        try:
            return self._of_event.get(str(getattr(record, "event", "")), self._other)(record)
        except Exception:
            self._broken = True
            return None

    def _other(self, record: logging.LogRecord) -> list[str] | None:
        text = record.getMessage()
        if _COMMAND_FAILED in text:
            self._commands_failed.append(record)  # which says nothing new where the step told its failure
            return []
        if record.levelno >= logging.WARNING:
            known = self._failed and None not in self._failed
            return [] if known and any(words in text for words in _SAYS_THAT_A_JOB_FAILED) else None
        if not self._started:
            return [] if text == _NOISE_BEFORE else None
        return None if text.startswith(_NEWS) else []

    def _workflow_started(self, record: logging.LogRecord) -> list[str]:
        self._started = True
        return []

    def _run_info(self, record: logging.LogRecord) -> list[str] | None:
        """The table of jobs: its sum, and what runs again; of a dry run the whole table, after the jobs."""
        if self._counted:
            return None
        self._counted = True
        stats: dict[str, int] = record.stats  # type: ignore[attr-defined]
        self._targets = stats.get(self._target or "", 0)
        steps = [] if self._dry_run else [f"zlbench: {count(stats['total'] - self._targets, 'step')}"]
        return [*(f"zlbench: {line}" for line in self._changed()), *steps]

    def _changed(self) -> list[str]:
        """Asked of every job that will run: Snakemake asks no more once it has another reason."""
        found = []
        for job in self._workflow.dag.needrun_jobs():
            change = self._workflow.persistence.params_changed(job)
            if change:
                found.append((job.rule.name, change.only_old, change.only_new))
        return self._changes.lines(sorted(found, key=lambda job: job[0]))

    def _job_info(self, record: logging.LogRecord) -> list[str]:
        told: dict[str, Any] = record.__dict__
        if told["rule_name"] == self._target and not told["output"]:
            return []
        wildcards = " ".join(f"{name}={value}" for name, value in dict(told["wildcards"] or {}).items())
        text = (told["rule_msg"] or f"{told['rule_name']} {wildcards}").strip().removesuffix(".")
        self._jobs[told["jobid"]] = (text, time.monotonic())
        return [f"would run: {text} ({self._why(told)})"] if self._dry_run else []

    def _why(self, told: dict[str, Any]) -> str:
        return "; ".join(map(self._short, told["reason"].split("; ")))

    def _short(self, reason: str) -> str:
        before, found, now = reason.partition(" now: ")
        if reason.startswith("Params have changed") and found:
            return self._changes.change([before], [now])
        files = _FILES.match(reason)
        return (
            f"{files['what']}: {files['first']} and {files['more'].count(',') + 1} more" if files else reason
        )

    def _job_finished(self, record: logging.LogRecord) -> list[str]:
        job = self._jobs.pop(record.job_id, None)  # type: ignore[attr-defined]
        if job is None:
            return []
        text, began = job
        self._done += 1
        total = len(self._workflow.dag) - self._targets
        return [f"[{self._done:>2}/{total:>2}] {text} ({_duration(time.monotonic() - began)})"]

    def _job_error(self, record: logging.LogRecord) -> list[str] | None:
        logs: list[str] = record.log  # type: ignore[attr-defined]
        code = self._told(logs)
        self._failed.append(code)
        if code is None:
            self._tell_commands()
            return None
        del self._commands_failed[:1]
        text, _ = self._jobs.pop(record.jobid)  # type: ignore[attr-defined]
        return [f"[{'interrupted' if code == INTERRUPTED else 'failed'}] {text}; its log: {', '.join(logs)}"]


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
