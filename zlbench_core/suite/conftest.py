"""The options of the builtin suite (the ones of FlagGems' benchmarks), its device, and its result files."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from zlbench_core.backends import get_backend
from zlbench_core.backends.compile_only import disable_launches
from zlbench_core.errors import ZlbenchError
from zlbench_core.records.run_env import BACKEND, RunEnv
from zlbench_core.suite import config as suite_config
from zlbench_core.suite import record
from zlbench_core.suite.report import METRICS

if TYPE_CHECKING:
    import pluggy

BUILTIN_MARKS = ("parametrize", "skip", "skipif", "xfail", "usefixtures", "filterwarnings", "timeout")
OPS = ("mm", "bmm", "softmax", "layer_norm", "add", "sum", "cross_entropy", "dropout", "silu")


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.getgroup("zlbench suite").addoption
    add("--level", choices=suite_config.LEVELS, default="comprehensive", help="which shapes: core, or more")
    add("--mode", choices=suite_config.MODES, default="kernel", help="how latency is measured")
    add("--warmup", type=int, default=None, metavar="MS", help="warm-up before a row is timed, in ms")
    add("--iter", type=int, default=None, metavar="MS", help="time spent on timing a row, in ms")
    add("--dtypes", action="append", choices=suite_config.DTYPES, default=None, help="may be repeated")
    add("--metrics", action="append", choices=METRICS, default=None, help="may be repeated")
    add("--shape_file", default=None, metavar="PATH", help="shapes by operator or class, YAML")
    add("--record", choices=suite_config.RECORDS, default="none", help="also write the rows to a file")
    add("--output", default="benchmark_result.json", metavar="PATH", help="the file of --record json")


def pytest_configure(config: pytest.Config) -> None:
    for op in OPS:
        config.addinivalue_line("markers", f"{op}: the benchmark of {op}")
    try:
        suite_config.use(_resolve(config))
    except ZlbenchError as error:
        raise pytest.UsageError(str(error)) from None
    if config.getoption("--record") == "log":
        record.open_record_log(config.invocation_params.args)


def pytest_unconfigure(config: pytest.Config) -> None:
    record.close_record_log()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Generator[None, pluggy.Result[Any], None]:
    outcome = yield
    marks = [mark.name for mark in item.iter_markers() if mark.name not in BUILTIN_MARKS]
    outcome.get_result().zlbench_op = marks[0] if marks else item.nodeid


def pytest_runtest_logreport(report: Any) -> None:
    failed_around = report.when != "call" and report.outcome != "passed"
    if report.when == "call" or failed_around:
        reason = None if report.outcome == "passed" else record.reason_of(report)
        record.add_outcome(report.zlbench_op, report.outcome, report.nodeid, reason)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--record") == "json":
        record.write_results(session.config.getoption("--output"))


def _resolve(config: pytest.Config) -> suite_config.SuiteConfig:
    """Make the backend ready, before any kernel is imported, and read the options for its device."""
    run = RunEnv.read()
    backend = get_backend(run.backend)
    import torch

    backend.process_activate(run.target)
    device = backend.torch_device
    _require_device(backend.name, device)
    if not run.measure:
        disable_launches()
    warmup_ms, iter_ms = suite_config.default_times(device)
    option = config.getoption
    return suite_config.SuiteConfig(
        device=device,
        mode=option("--mode"),
        level=option("--level"),
        warmup_ms=warmup_ms if option("--warmup") is None else option("--warmup"),
        iter_ms=iter_ms if option("--iter") is None else option("--iter"),
        dtypes=[getattr(torch, name) for name in option("--dtypes")] if option("--dtypes") else None,
        metrics=option("--metrics"),
        shape_file=_shape_file(option("--shape_file"), device),
        measure=run.measure,
    )


def _shape_file(asked: str | None, device: str) -> Path:
    path = Path(asked) if asked else suite_config.default_shape_file(device)
    if not path.is_file():
        raise pytest.UsageError(f"--shape_file {path}: no such file")
    return path


def _require_device(name: str, device: str) -> None:
    import torch

    try:
        torch.zeros(1, device=device)
    except Exception as error:
        first_line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise pytest.UsageError(
            f"{BACKEND}={os.environ.get(BACKEND, '')!r} (backend {name}): torch has no device {device!r}: "
            f"{first_line}; {BACKEND}=cpu needs none"
        ) from None
