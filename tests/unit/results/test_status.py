from __future__ import annotations

from dataclasses import replace

import pytest

from zlbench_core.results.rows import Failure, PytestSummary, Row, RunResult
from zlbench_core.results.status import STATUSES, OperatorStatus, operator_status

ROW = Row("mm", "torch.float16", "kernel", "core", "[[8]]", latency_base=0.2, latency=0.1, speedup=2.0)
GREEN = RunResult(rows=(ROW,), pytest_summary=PytestSummary(passed=1))
EMPTY = RunResult(pytest_summary=PytestSummary(passed=1))
RED = replace(
    GREEN, failures=(Failure("test", "RuntimeError: boom"),), pytest_summary=PytestSummary(failed=1)
)
LOST_ONE = replace(GREEN, rows=(ROW, ROW._replace(latency=None)))
TELLS_OF_ONE = {"measurement": {"pair": {"lost_rows": ["mm torch.float16 [8]: the device throttled"]}}}
LOCKED = Failure("infrastructure", "database is locked")


@pytest.mark.parametrize(
    ("result", "identity", "status", "reason"),
    [
        (GREEN, {"pytest_exit": 0}, "ok", ""),
        (GREEN, {}, "ok", ""),
        (EMPTY, {"pytest_exit": 0}, "no_data", "finished green without a row"),
        (
            replace(GREEN, rows=(ROW._replace(latency=None),)),
            {},
            "no_data",
            "finished green without a latency",
        ),
        (
            replace(GREEN, partial_dtypes=("mm: torch.float32",)),
            {},
            "partial",
            "no rows of mm: torch.float32",
        ),
        (
            replace(GREEN, rows=(ROW, ROW._replace(latency=None))),
            {},
            "partial",
            "1 of 2 rows have no latency",
        ),
        (LOST_ONE, TELLS_OF_ONE, "ok", "1 of 2 rows are lost"),
        (
            replace(LOST_ONE, rows=(ROW, *2 * (ROW._replace(latency=None),))),
            TELLS_OF_ONE,
            "partial",
            "2 of 3 rows have no latency",
        ),
        (
            replace(LOST_ONE, rows=(ROW, ROW._replace(status="FAILED", latency=None))),
            TELLS_OF_ONE,
            "partial",
            "1 of 2 rows have no latency",
        ),
        (
            replace(LOST_ONE, rows=(ROW._replace(latency=None),)),
            TELLS_OF_ONE,
            "no_data",
            "finished green without a latency",
        ),
        (
            RED,
            {**TELLS_OF_ONE, "pytest_exit": 1},
            "partial",
            "1 rows (torch.float16), then: RuntimeError: boom",
        ),
        (RED, {"pytest_exit": 1}, "partial", "1 rows (torch.float16), then: RuntimeError: boom"),
        (RED, {"pytest_exit": 0}, "partial", "1 rows (torch.float16), then: RuntimeError: boom"),
        (GREEN, {"pytest_exit": 1}, "partial", "1 rows (torch.float16), then: pytest exited 1"),
        (replace(RED, rows=()), {"pytest_exit": 1}, "failed", "RuntimeError: boom"),
        (replace(EMPTY, pytest_summary=None), {"pytest_exit": 4}, "failed", "pytest could not start"),
        (RunResult(cut_off=True), {"pytest_exit": 4}, "failed", "pytest could not start"),
        (
            RunResult(pytest_summary=PytestSummary()),
            {"pytest_exit": 5},
            "no_data",
            "pytest collected no test",
        ),
        (
            replace(RED, rows=()),
            {"pytest_exit": 124},
            "timeout",
            "stopped by the time limit before the first row",
        ),
        (GREEN, {"timed_out": True, "pytest_exit": -9}, "timeout", "stopped by the time limit after 1 rows"),
        (replace(GREEN, exit_code=124), {}, "timeout", "stopped by the time limit"),
        (GREEN, {"pytest_exit": -11}, "crashed", "killed by signal 11 after 1 rows"),
        (GREEN, {"pytest_exit": 139}, "crashed", "killed by signal 11 after 1 rows"),
        (GREEN, {"pytest_exit": 3}, "crashed", "internal error of pytest"),
        (GREEN, {"pytest_exit": 2}, "crashed", "interrupted after 1 rows"),
        (replace(RED, rows=()), {"pytest_exit": 2}, "failed", "RuntimeError: boom"),
        (replace(GREEN, cut_off=True, pytest_summary=None), {}, "crashed", "the log breaks off after 1 rows"),
        (
            replace(RED, failures=(LOCKED, *RED.failures)),
            {"pytest_exit": 1},
            "crashed",
            "infrastructure: database",
        ),
        (None, {"pytest_exit": 0}, "crashed", "the run left nothing"),
        (
            replace(EMPTY, skipped=("fft: no cuda",), pytest_summary=PytestSummary(skipped=1)),
            {"pytest_exit": 0},
            "skipped",
            "fft: no cuda",
        ),
        (replace(EMPTY, pytest_summary=PytestSummary(passed=1, skipped=1)), {}, "no_data", "finished green"),
    ],
)
def test_status_and_reason(result, identity, status, reason):
    found = operator_status(result, identity)
    assert found.status == status
    assert found.reason.startswith(reason)


def test_statuses_stand_from_best_to_worst():
    assert STATUSES == ("ok", "skipped", "partial", "no_data", "no_pins", "failed", "timeout", "crashed")


def test_a_replay_without_a_single_pin_is_no_pins():
    replay = {"keys_pinned": 3, "hits": 0, "fallbacks": {"key_missing": 2}}
    identity = {"pytest_exit": 0, "autotune_mode": "replay", "replay": replay}
    assert operator_status(GREEN, identity) == OperatorStatus("no_pins", "no launch had a pin: key_missing 2")
    assert operator_status(GREEN, {**identity, "replay": {**replay, "hits": 1}}).status == "ok"
    assert operator_status(GREEN, {**identity, "autotune_mode": "record"}).status == "ok"


def test_an_operator_without_a_tuner_needs_no_pin():
    identity = {"autotune_mode": "replay", "replay": {"keys_pinned": 0, "hits": 0, "fallbacks": {}}}
    assert operator_status(GREEN, identity).status == "ok"


def test_a_compile_only_run_needs_no_rows_and_may_still_fail():
    assert operator_status(EMPTY, {"pytest_exit": 0}, measured=False).status == "ok"
    assert operator_status(replace(RED, rows=()), {"pytest_exit": 1}, measured=False).status == "failed"


def test_the_suites_own_failed_line_is_the_last_resort_for_a_reason():
    event = Failure("event", "mm dtype={dtype} err=<<<{e}>>>")
    failed = replace(RED, rows=(), failures=(event, Failure("test", "boom")))
    assert operator_status(failed, {}).reason == "boom"
    assert operator_status(replace(failed, failures=(event,)), {}).reason == event.message


def test_a_compile_only_run_that_compiled_nothing_is_no_success() -> None:
    identity = {"pytest_exit": 0, "ir": {"variants": 0, "stages": []}}
    found = operator_status(RunResult(), identity, measured=False)
    assert (found.status, found.reason) == ("no_data", "finished green without compiling a kernel")
    compiled = operator_status(RunResult(), {**identity, "ir": {"variants": 2}}, measured=False)
    assert compiled.status == "ok"
