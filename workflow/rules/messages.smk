# What a run says of itself on the terminal, from its start to its last word.
import atexit
import sys
from pathlib import Path

from zlbench_core.judge.show import show_campaign
from zlbench_core.results.console import screen_width
from zlbench_core.start.failures import failure_lines, last_word, told_exit_code
from zlbench_core.start.snakemake_api import logs_of
from zlbench_core.start.snakemake_console import install_console


def print_summary():
    folder = Path("results") / CAMPAIGN.subject.backend
    if (folder / "verdicts.json").exists():
        print(show_campaign(folder, screen_width()), flush=True)


def report_failures():
    for line in failure_lines(LOGS, FAILURES_BEFORE):
        print(line, file=sys.stderr)


PROGRESS = {"started": False, "done": False}


def note_start():
    PROGRESS["started"] = True
    PLANS.save()


def note_success():
    PROGRESS["done"] = True


# Snakemake's own last words say that something failed, and onerror is silent at Ctrl-C: what to do is said after them.
def print_last_word():
    unfinished = PROGRESS["started"] and not PROGRESS["done"]
    line = last_word(LOGS, FAILURES_BEFORE, unfinished=unfinished, snakemake_log=logs_of(workflow))
    if line is not None:
        print(line, file=sys.stderr)


def exit_code_told(logs):
    return told_exit_code([LOGS.parent / log for log in logs], FAILURES_BEFORE)


if workflow.is_main_process:
    atexit.register(print_last_word)
    install_console(workflow, exit_code_told, PLANS)
