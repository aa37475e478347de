"""The benchmark classes without a kernel: plain functions stand in, and the timer is a fake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import triton

from zlbench_core.duet import announce
from zlbench_core.duet.identify import RowIds
from zlbench_core.errors import ConfigError
from zlbench_core.suite import base
from zlbench_core.suite import config as suite_config
from zlbench_core.suite.inputs import seeded, shape_detail, split_inputs

SHAPES = """
named: {shapes: [[3, 4]], shape_desc: own}
RowBenchmark: {shapes: [[2, 8], [2, 9], [2, 8]]}
Benchmark: {shapes: [[1, 1]]}
"""

Configure = Callable[..., suite_config.SuiteConfig]


@pytest.fixture
def configure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Set the suite's configuration; the timer returns 2.0 ms for anything that runs."""
    shape_file = tmp_path / "shapes.yaml"
    shape_file.write_text(SHAPES, encoding="utf-8")

    def do_bench(call: Callable[[], Any], **asked: Any) -> float:
        call()
        return 2.0

    monkeypatch.setattr(triton.testing, "do_bench", do_bench)

    def configured(**changes: Any) -> suite_config.SuiteConfig:
        asked = {"level": "core", "dtypes": [torch.float32], "metrics": None, "measure": True, **changes}
        config = suite_config.SuiteConfig(
            "cpu", "kernel", warmup_ms=1, iter_ms=2, shape_file=shape_file, **asked
        )
        monkeypatch.setattr(suite_config, "_current", config)
        return config

    return configured


def row_benchmark(op: Callable[..., Any] = torch.sum, op_name: str = "rows") -> base.RowBenchmark:
    return base.RowBenchmark(op_name=op_name, torch_op=torch.sum, op=op)


def resolved(benchmark: base.Benchmark) -> base.Benchmark:
    benchmark.init_user_config()
    return benchmark


def test_shapes_are_of_the_operator_then_of_the_nearest_class(configure: Configure) -> None:
    configure()
    assert resolved(row_benchmark(op_name="named")).shapes == [(3, 4)]
    assert resolved(row_benchmark()).shapes == [(2, 8), (2, 9)]
    assert resolved(base.PointwiseBenchmark("other", torch.add, torch.add)).shapes == [(1, 1)]


def test_comprehensive_adds_shapes_metrics_and_a_transposed_round(configure: Configure) -> None:
    configure(level="comprehensive")
    assert resolved(row_benchmark()).shapes == [(2, 8), (2, 9), (5, 300), (2, 7, 33)]
    assert row_benchmark().to_bench_metrics == ["latency_base", "latency", "speedup"]
    assert resolved(row_benchmark()).to_bench_metrics[-1] == "gbps"
    blas = base.BlasBenchmark("mm", torch.mm, torch.mm)
    blas.shapes = [(1, 4, 5, 6)]
    plain, transposed = blas.get_input_iter(torch.float32)
    assert [x.shape for x in plain] == [x.shape for x in transposed] == [(4, 6), (6, 5)]
    assert (plain[1].is_contiguous(), transposed[1].is_contiguous()) == (True, False)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dtypes": [torch.int32]}, "dtype torch.int32 of rows"),
        (
            {"metrics": ["tflops", "latency"]},
            "metric tflops of rows; allowed: latency_base, latency, speedup",
        ),
        ({"metrics": ["latency", "speedup"]}, "metric speedup of rows needs also latency_base"),
    ],
)
def test_what_the_operator_does_not_have_is_refused(configure: Configure, changes: Any, words: str) -> None:
    configure(**changes)
    with pytest.raises(ValueError, match=words):
        row_benchmark().run()


def test_shape_of_another_length_is_refused(configure: Configure) -> None:
    configure()
    with pytest.raises(ConfigError, match=r"shape \[1, 1\] of mm: B, M, N, K are expected"):
        base.BlasBenchmark("mm", torch.mm, torch.mm).run()


def test_shape_file_that_is_no_mapping_is_refused(configure: Configure) -> None:
    configure().shape_file.write_text("- 1", encoding="utf-8")
    with pytest.raises(ConfigError, match="a mapping of operators or classes is expected"):
        row_benchmark().run()


def test_rows_are_timed_and_printed(configure: Configure, capsys: pytest.CaptureFixture[str]) -> None:
    config = configure()
    row_benchmark().run()
    (block,) = config.results["rows"]["details"]
    assert [row["latency"] for row in block["result"]] == [2.0, 2.0]
    assert "SUCCESS               2.000000            2.000000               1.000" in capsys.readouterr().out


def test_asked_metrics_alone_are_measured(configure: Configure) -> None:
    config = configure(metrics=["latency"])
    row_benchmark().run()
    row = config.results["rows"]["details"][0]["result"][0]
    assert (row["latency_base"], row["latency"], row["speedup"]) == (None, 2.0, None)


def test_rates_are_per_second(configure: Configure) -> None:
    config = configure(level="comprehensive")
    row_benchmark().run()
    row = config.results["rows"]["details"][0]["result"][0]
    assert row["gbps"] == pytest.approx(2 * 2 * 8 * 4 / 2e-3 / 1e9)
    base.PointwiseBenchmark("sums", torch.add, torch.add).run()
    row = config.results["sums"]["details"][0]["result"][0]
    assert row["tflops"] == pytest.approx(1 / 2e-3 / 1e12)


def test_kernel_is_checked_before_anything_is_timed(
    configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure()
    timed: list[str] = []
    monkeypatch.setattr(triton.testing, "do_bench", lambda call, **asked: timed.append("row") or 2.0)
    with pytest.raises(pytest.fail.Exception, match=r"wrong result of rows .*; wrong result of rows"):
        row_benchmark(lambda x, dim: torch.sum(x, dim) + 1).run()
    assert timed == []


@pytest.mark.parametrize("value", [0.0, -1.0, float("inf")])
def test_latency_that_is_no_measurement_fails_the_row(
    configure: Configure, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], value: float
) -> None:
    config = configure()
    monkeypatch.setattr(triton.testing, "do_bench", lambda call, **asked: value)
    with pytest.raises(RuntimeError, match="no measurement"):
        row_benchmark().run()
    (row,) = config.results["rows"]["details"][0]["result"]
    assert (row["latency"], row["error_msg"]) == (
        None,
        f"no measurement: the timer of mode kernel returned {value}",
    )
    assert "FAILED: Operator=rows dtype=torch.float32 err=<<<no measurement" in capsys.readouterr().out


def test_a_row_that_a_partner_lost_is_no_failure_and_the_next_row_is_timed(
    configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = iter([float("nan"), 2.0])
    config = configure(metrics=["latency"])
    monkeypatch.setattr(triton.testing, "do_bench", lambda call, **asked: next(values))
    row_benchmark().run()
    lost, timed = config.results["rows"]["details"][0]["result"]
    assert (lost["latency"], lost["error_msg"]) == (None, None)
    assert (timed["latency"], timed["error_msg"]) == (2.0, None)


def test_a_wrong_result_is_announced_as_the_row_that_would_have_been_timed(
    configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    def key(call: Callable[[], Any]) -> str:
        return RowIds().next("node", call).key

    configure(metrics=["latency"])
    told, timed = [], []
    monkeypatch.setattr(announce, "_listeners", [lambda call, error: told.append((key(call), str(error)))])
    monkeypatch.setattr(triton.testing, "do_bench", lambda call, **asked: timed.append(key(call)) or 2.0)
    row_benchmark().run()
    with pytest.raises(pytest.fail.Exception, match="wrong result"):
        row_benchmark(lambda x, dim: torch.sum(x, dim) + (x.shape[1] == 8)).run()
    first, second = timed[:2]
    assert first != second
    assert timed[2:] == [second]
    assert [row for row, _ in told] == [first]
    assert told[0][1].startswith("wrong result of rows")


def test_failure_event_is_one_line(configure: Configure, capsys: pytest.CaptureFixture[str]) -> None:
    def op(x: torch.Tensor, dim: int) -> torch.Tensor:
        raise RuntimeError("first\n  second")

    configure()
    with pytest.raises(RuntimeError):
        row_benchmark(op).run()
    assert "FAILED: Operator=rows dtype=torch.float32 err=<<<first second>>>\n" in capsys.readouterr().out


def test_inputs_do_not_depend_on_what_ran_between_the_rows() -> None:
    def rows() -> Any:
        for _ in range(3):
            yield (torch.randn(2),)

    quiet = [row[0] for row in seeded(rows())]
    busy = []
    for row in seeded(rows()):
        torch.rand(5)
        busy.append(row[0])
    assert all(torch.equal(a, b) for a, b in zip(quiet, busy, strict=True))
    assert not torch.equal(quiet[0], quiet[1])


def test_size_detail_has_the_forms_that_readers_know() -> None:
    x = torch.zeros(2, 3)
    args, kwargs = split_inputs((x, 1, {"dim": 0}))
    assert (args, kwargs) == ([x, 1], {"dim": 0})
    assert repr(shape_detail(args, kwargs)) == "([torch.Size([2, 3]), 1], {'dim': 0})"
    assert repr(shape_detail([x, [x]], {})) == "[torch.Size([2, 3]), [torch.Size([2, 3])]]"
