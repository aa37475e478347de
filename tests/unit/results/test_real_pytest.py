"""Logs that pytest itself writes, of a toy suite that prints tables as FlagGems does."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from zlbench_core.results.reader import read_run
from zlbench_core.results.status import operator_status

TOY = """
import pytest

def table(dtype, op="toy"):
    print(f"\\nOperator: {op}  Performance Test (dtype={dtype}, mode=kernel,level=core)")
    print("Status       Torch Latency (ms)    Gems Latency (ms)         Gems Speedup          Size Detail")
    print("-" * 95)
    print(f"SUCCESS   {0.2:>20.6f}{0.1:>20.6f}{2.0:>20.3f}          [torch.Size([8])]\\n")

def test_good():
    table("torch.float16")

def test_stops():
    table("torch.float16", "stops")
    raise RuntimeError("out of memory in the second dtype, " + "and longer than one line " * 5)

@pytest.mark.skipif(True, reason="CUDA is not available")
def test_skipped():
    table("torch.float16")

@pytest.fixture
def broken():
    raise OSError("no device")

def test_set_up(broken):
    pass
"""


@pytest.fixture
def run_toy(tmp_path):
    def run(*arguments: str, source: str = TOY):
        (tmp_path / "benchmark").mkdir()
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        (tmp_path / "benchmark" / "test_toy.py").write_text(source)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
        environment = {**os.environ, "COLUMNS": "80", "PYTEST_ADDOPTS": ""}
        with open(tmp_path / "run.log", "wb") as log:
            done = subprocess.run(
                command, cwd=tmp_path, env=environment, stdout=log, stderr=subprocess.STDOUT, check=False
            )
        result = read_run(tmp_path)
        return result, operator_status(result, {"pytest_exit": done.returncode})

    return run


@pytest.mark.parametrize("arguments", [("-s",), ("-v", "-s", "--color=yes"), ("-q",)])
def test_rows_failures_and_reasons_are_found_however_pytest_prints(run_toy, arguments):
    result, status = run_toy("benchmark/test_toy.py", "-rsfE", *arguments)
    shown = {"toy", "stops"} if "-s" in arguments else {"stops"}
    assert {row.op for row in result.rows} == shown
    assert sorted((f.kind, f.node.rpartition("::")[2], f.message) for f in result.failures) == [
        ("error", "test_set_up", "OSError: no device"),
        (
            "test",
            "test_stops",
            f"RuntimeError: out of memory in the second dtype, {'and longer than one line ' * 5}".strip(),
        ),
    ]
    assert result.skipped == ("benchmark/test_toy.py:17: CUDA is not available",)
    summary = result.pytest_summary
    assert (summary.passed, summary.failed, summary.errors, summary.skipped) == (1, 1, 1, 1)
    assert (status.status, result.cut_off) == ("partial", False)


def test_a_green_run_that_shows_no_table_is_no_data(run_toy):
    result, status = run_toy("benchmark/test_toy.py::test_good", "-q")
    assert (result.rows, result.pytest_summary.passed) == ((), 1)
    assert status.status == "no_data"


def test_a_skipped_operator_is_skipped_for_its_reason(run_toy):
    _, status = run_toy("benchmark/test_toy.py::test_skipped", "-s", "-rs")
    assert (status.status, status.reason) == ("skipped", "benchmark/test_toy.py:17: CUDA is not available")


def test_a_file_that_does_not_import_failed_with_the_import_error(run_toy):
    result, status = run_toy("benchmark/test_toy.py", "-s", source="import a_module_that_is_not_there\n")
    (failure,) = result.failures
    message = "ModuleNotFoundError: No module named 'a_module_that_is_not_there'"
    assert (failure.kind, failure.node, failure.message) == ("error", "benchmark/test_toy.py", message)
    assert (status.status, status.reason) == ("failed", message)


@pytest.mark.parametrize("name", ["benchmark/test_toy.py", "helper.py", "conftest.py"])
def test_a_syntax_error_is_told_by_its_name_file_and_line(run_toy, tmp_path, name):
    broken = "import os\ndef test_toy(:\n    pass\n"
    if name == "benchmark/test_toy.py":
        _, status = run_toy(name, "-s", source=broken)
    else:
        (tmp_path / name).write_text(broken)
        _, status = run_toy("benchmark/test_toy.py", "-s", source="import helper\n")
    told = f"SyntaxError: invalid syntax ({name.rpartition('/')[2]}, line 2)"
    assert status.status == "failed"
    assert status.reason.endswith(told) if name == "conftest.py" else status.reason == told


def test_a_test_that_is_not_there_failed_by_its_name(run_toy):
    _, status = run_toy("benchmark/test_toy.py::test_nothing", "-s")
    assert status.status == "failed"
    assert "test_nothing" in status.reason


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--bogus", "benchmark"], "unrecognized arguments: --bogus"),
        (["-p", "no_such_plugin", "benchmark"], 'Error importing plugin "no_such_plugin"'),
        (["-c", "nowhere.ini", "benchmark"], "nowhere.ini"),
        (["benchmark/test_gone.py"], "file or directory not found: benchmark/test_gone.py"),
        (["benchmark/test_toy.py::test_gone"], "not found: "),
    ],
)
def test_a_usage_error_is_told_by_its_own_reason(run_toy, arguments, reason):
    result, status = run_toy(*arguments)
    assert status.status == "failed"
    assert status.reason.startswith("pytest could not start: ")
    assert reason in status.reason
    assert not result.cut_off


def test_a_conftest_that_does_not_import_is_named_with_its_error(run_toy, tmp_path):
    (tmp_path / "conftest.py").write_text("import no_such_module\n")
    _, status = run_toy("benchmark")
    assert status.status == "failed"
    assert "conftest.py" in status.reason
    assert "ModuleNotFoundError: No module named 'no_such_module'" in status.reason


def test_a_log_that_ends_inside_the_session_still_breaks_off(run_toy, tmp_path):
    run_toy("-s", "benchmark")
    log = tmp_path / "run.log"
    log.write_bytes(b"ERROR: a line of the kernel's own\n" + log.read_bytes().rpartition(b"=====")[0][:-400])
    status = operator_status(read_run(tmp_path), {})
    assert status.reason.startswith("the log breaks off")
