"""Results: readers, pairing, statuses and tables. Nothing here needs torch, triton or a device."""

from __future__ import annotations

from zlbench_core.campaign.values import resolve_device_arg
from zlbench_core.results.ab import _report_caliber, report_ab
from zlbench_core.results.csv_files import read_table
from zlbench_core.results.pairing import PairedRow, Pairing, Refusal, pair_rows
from zlbench_core.results.reader import read_run
from zlbench_core.results.rows import Failure, PytestSummary, Row, RunResult
from zlbench_core.results.status import OperatorStatus, operator_status
from zlbench_core.results.tables import AB, CODE, STATUS, SUMMARY

__all__ = [
    "AB",
    "CODE",
    "STATUS",
    "SUMMARY",
    "Failure",
    "OperatorStatus",
    "PairedRow",
    "Pairing",
    "PytestSummary",
    "Refusal",
    "Row",
    "RunResult",
    "_report_caliber",
    "operator_status",
    "pair_rows",
    "read_run",
    "read_table",
    "report_ab",
    "resolve_device_arg",
]
