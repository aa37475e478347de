"""Snakemake's records and what the console makes of them; that real Snakemake sends such, tests/workflow sees."""

from __future__ import annotations

import io
import logging
from types import SimpleNamespace

import pytest
from snakemake.logging import logger
from snakemake_interface_logger_plugins.common import LogEvent

from zlbench_core.start.plan_changes import PlanChanges
from zlbench_core.start.snakemake_console import Console, install_console

TOLD = {"logs/1.log": 1, "logs/2.log": 130}


class Talk:
    """A console, what it prints, and what it hands to Snakemake's own handler, in one stream."""

    def __init__(self, tmp_path, told=lambda logs: None, **settings) -> None:
        self.stream = io.StringIO()
        plain = logging.StreamHandler(self.stream)
        plain.setFormatter(logging.Formatter("SNAKEMAKE %(message)s"))
        workflow = SimpleNamespace(
            output_settings=SimpleNamespace(**{"dryrun": False, **settings}),
            default_target="all",
            dag=Dag(),
            persistence=SimpleNamespace(params_changed=lambda job: None),
        )
        self.console = Console(plain, workflow, told, PlanChanges(tmp_path / "plans.json"))

    def say(self, text: str | None, event: LogEvent | None = None, level: int = logging.INFO, **told) -> None:
        record = logging.LogRecord("snakemake.logging", level, "", 0, text, None, None)
        record.__dict__.update(told, **({} if event is None else {"event": event}))
        self.console.handle(record)

    def start(self) -> None:
        self.say("SNAKEMAKE\n====", LogEvent.WORKFLOW_STARTED)
        self.say("Job stats:", LogEvent.RUN_INFO, stats={"replay_round": 2, "all": 1, "total": 3})

    def job(self, jobid: int, **told) -> None:
        known = {
            "rule_name": "replay_round",
            "rule_msg": f"Round {jobid} of mm.",
            "wildcards": {},
            "output": ["x"],
        }
        self.say(" Rule", LogEvent.JOB_INFO, jobid=jobid, **{**known, "reason": "Forced execution", **told})

    @property
    def lines(self) -> list[str]:
        return self.stream.getvalue().splitlines()


class Dag:
    def needrun_jobs(self) -> list[object]:
        return []

    def __len__(self) -> int:
        return 3


def test_a_run_is_a_line_a_step_and_its_news(tmp_path):
    talk = Talk(tmp_path)
    talk.say("Assuming unrestricted shared filesystem usage.")
    talk.say("Unlocked working directory.")
    talk.start()
    talk.say("Building DAG of jobs...")
    talk.job(1)
    talk.say("Finished jobid: 1", LogEvent.JOB_FINISHED, job_id=1)
    talk.say(None, LogEvent.PROGRESS, done=1, total=3)
    talk.job(0, rule_name="all", rule_msg=None, output=[])
    talk.say("Finished jobid: 0", LogEvent.JOB_FINISHED, job_id=0)
    talk.say("a warning", level=logging.WARNING)
    talk.say("Nothing to be done (all requested files are present and up to date).")
    assert talk.lines == [
        "SNAKEMAKE Unlocked working directory.",
        "zlbench: 2 steps",
        "[ 1/ 2] Round 1 of mm (0 s)",
        "SNAKEMAKE a warning",
        "SNAKEMAKE Nothing to be done (all requested files are present and up to date).",
    ]


def failing(talk: Talk, jobid: int) -> None:
    talk.job(jobid)
    talk.say("CalledProcessError: returned non-zero exit status 1.", LogEvent.ERROR, logging.ERROR)
    talk.say(
        f"Error in rule, {jobid}", LogEvent.JOB_ERROR, logging.ERROR, jobid=jobid, log=[f"logs/{jobid}.log"]
    )


def test_a_failure_that_its_step_told_is_one_line(tmp_path):
    talk = Talk(tmp_path, told=lambda logs: TOLD.get(logs[0]))
    talk.start()
    failing(talk, 1)
    failing(talk, 2)
    talk.say("Exiting because a job execution failed. Look above for error messages", level=logging.ERROR)
    talk.console.close()
    assert talk.lines[1:] == [
        "[failed] Round 1 of mm; its log: logs/1.log",
        "[interrupted] Round 2 of mm; its log: logs/2.log",
    ]


def test_a_failure_that_no_step_told_is_said_as_snakemake_says_it(tmp_path):
    talk = Talk(tmp_path, told=lambda logs: TOLD.get(logs[0]))
    talk.start()
    failing(talk, 1)
    failing(talk, 3)
    talk.say("Exiting because a job execution failed. Look above for error messages", level=logging.ERROR)
    assert talk.lines[1:] == [
        "[failed] Round 1 of mm; its log: logs/1.log",
        "SNAKEMAKE CalledProcessError: returned non-zero exit status 1.",
        "SNAKEMAKE Error in rule, 3",
        "SNAKEMAKE Exiting because a job execution failed. Look above for error messages",
    ]


def test_a_command_that_failed_outside_any_step_is_not_lost(tmp_path):
    talk = Talk(tmp_path)
    talk.say("git returned non-zero exit status 128", level=logging.ERROR)
    talk.console.close()
    assert talk.lines == ["SNAKEMAKE git returned non-zero exit status 128"]


def test_a_dry_run_says_what_would_run_and_why(tmp_path):
    talk = Talk(tmp_path, dryrun=True)
    talk.start()
    talk.job(1, reason="Missing output files: a, b, c; Forced execution")
    talk.say("Job stats: again", LogEvent.RUN_INFO, stats={"total": 3})
    assert talk.lines == [
        "would run: Round 1 of mm (Missing output files: a and 2 more; Forced execution)",
        "SNAKEMAKE Job stats: again",
    ]


def test_from_the_first_record_that_is_not_as_expected_snakemake_speaks_itself(tmp_path):
    talk = Talk(tmp_path)
    talk.say("SNAKEMAKE\n====", LogEvent.WORKFLOW_STARTED)
    talk.say("Job stats:", LogEvent.RUN_INFO, statistics=7)
    talk.say("Select jobs to execute...")
    assert talk.lines == ["SNAKEMAKE Job stats:", "SNAKEMAKE Select jobs to execute..."]


@pytest.fixture
def handlers():
    """Snakemake's logger with its own handler of another name, as the next version may have it; put back after."""
    before = logger.handlers[:]
    stream = logging.StreamHandler(io.StringIO())
    logger.handlers[:] = [stream]
    yield stream
    logger.handlers[:] = before


@pytest.mark.parametrize(
    ("name", "asked", "own"),
    [
        ("DefaultStreamHandler", {}, True),
        ("another", {}, False),
        ("DefaultStreamHandler", {"verbose": True}, False),
        ("DefaultStreamHandler", {"quiet": {"rules"}}, False),
        ("DefaultStreamHandler", None, False),
    ],
)
def test_it_stands_only_where_snakemake_is_as_expected_and_nobody_asked_for_more(
    handlers, tmp_path, name, asked, own
):
    handlers.name = name
    usual = {"verbose": False, "debug_dag": False, "quiet": None, "dryrun": False}
    settings = SimpleNamespace(**({} if asked is None else {**usual, **asked}))
    workflow = SimpleNamespace(output_settings=settings, default_target="all")
    assert install_console(workflow, lambda logs: None, PlanChanges(tmp_path / "plans.json")) is own
    assert [isinstance(handler, Console) for handler in logger.handlers] == [own]
