"""The report: what a finished campaign found, for a reader who was not there.

Reads a results folder and writes report.html, summary.md and parquet copies of its tables. No torch, no device.
"""

from __future__ import annotations

from pathlib import Path

from zlbench_core.common.files import write_text
from zlbench_core.judge.receipt import Track, untracked
from zlbench_core.report.markdown import markdown
from zlbench_core.report.page import page
from zlbench_core.report.parquet import copy_tables
from zlbench_core.report.source import read_results

__all__ = ["PAGE", "SUMMARY", "write_report"]

PAGE, SUMMARY = "report.html", "summary.md"


def write_report(folder: Path, track: Track = untracked) -> tuple[list[Path], list[str]]:
    """Write the report of results/{backend}; the files, and why the summary is stale, which the page says too.

    Raises ReadError where there is no finished summary.
    """
    results = read_results(folder, track)
    write_text(folder / PAGE, page(results))
    write_text(folder / SUMMARY, markdown(results))
    files = [folder / PAGE, folder / SUMMARY, *copy_tables(folder)]
    return files, list(results.stale)
