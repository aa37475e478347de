from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.unit.timing.timing_fakes import FakeDriver
from zlbench_core.plugins import cudagraph, timing
from zlbench_core.records.identity import init_identity, load_identity

Run = Callable[..., SimpleNamespace]
HEAD = """
import pytest
import triton.testing
from triton.runtime import driver
device = driver.active.device

def latency(fn, **how):
    return triton.testing.do_bench(fn, warmup=1, rep=5, return_mode="median", **how)
"""


@pytest.fixture
def run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    activate: Callable[[str], FakeDriver],
) -> Run:
    """Run a benchmark file with the timing plugin, in a pytest session of its own, on the fake device."""
    monkeypatch.setattr(timing, "round_trip", lambda device: True)

    def start(body: str, backend: str = "musa", **env: str) -> SimpleNamespace:
        activate(backend)
        out = tmp_path / "out"
        init_identity(out, op="x")
        (tmp_path / "test_bench.py").write_text(HEAD + body)
        monkeypatch.chdir(tmp_path)
        for name, value in {"ZL_BACKEND": backend, "ZL_OUT_DIR": str(out), **env}.items():
            monkeypatch.setenv(name, value)
        options = ["-s", "-q", "-rA", "-p", "no:cacheprovider", "--import-mode=importlib", "--rootdir=."]
        code = pytest.main([*options, "test_bench.py"], plugins=[timing])
        sys.modules.pop("test_bench", None)
        samples = out / "samples.jsonl"
        lines = samples.read_text().splitlines() if samples.exists() else []
        return SimpleNamespace(
            code=int(code),
            text=capfd.readouterr().out,
            samples=[json.loads(line) for line in lines],
            identity=load_identity(out),
        )

    return start


def test_a_benchmark_is_captured_its_refusing_row_is_not_and_the_identity_is_told(run: Run) -> None:
    done = run(
        """
def test_rows():
    assert latency(lambda: device.launch(0.02)) == pytest.approx(0.02)
    refusing = lambda: device.launch(0.03, refuse="MUSA error: operation not supported")
    assert latency(refusing) == pytest.approx(0.03)
    assert triton.testing.do_bench_cudagraph(lambda: device.launch(0.04), rep=5) == pytest.approx(0.04)
""",
        ZL_DIRECT_REPEAT="2",
    )
    assert done.code == 0
    assert [line["timer"] for line in done.samples] == ["cuda_graph", "direct", "cuda_graph"]
    assert {line["node"] for line in done.samples} == {"test_bench.py::test_rows"}
    assert "BENCHMARK_DIRECT_NO_CUDAGRAPH node=test_bench.py::test_rows row=1: MUSA error" in done.text
    assert (done.identity["timer"], done.identity["direct_repeat"]) == ("cuda_graph", 2)
    assert done.identity["measurement"]["rows"] == {"cuda_graph": 2, "direct": 1}


def test_upstreams_timers_are_back_after_the_session(run: Run) -> None:
    import triton.testing

    before = triton.testing.do_bench, triton.testing.do_bench_cudagraph
    run("def test_patched():\n    assert triton.testing.do_bench.__wrapped__ is not None\n")
    assert (triton.testing.do_bench, triton.testing.do_bench_cudagraph) == before
    assert cudagraph._ORIGINAL_DO_BENCH is None


def test_a_tuner_gets_upstreams_timer_and_leaves_no_row(run: Run) -> None:
    done = run("""
from triton.runtime.autotuner import Autotuner

class Tuner(Autotuner):
    def __init__(self): self.tuned = False
    def run(self):
        if not self.tuned:
            assert len(triton.testing.do_bench(lambda: device.launch(0.5), quantiles=(0.5, 0.2, 0.8))) == 3
            self.tuned = True
        device.launch(0.02)

def test_tuned():
    assert latency(Tuner().run) == pytest.approx(0.02)
""")
    assert done.code == 0
    assert [line["timer"] for line in done.samples] == ["cuda_graph"]


def test_tuning_that_fires_inside_the_capture_is_named(run: Run) -> None:
    done = run("""
from triton.runtime.autotuner import Autotuner

class Tuner(Autotuner):
    timings = []
    def __init__(self): pass
    def run(self):
        if device.recorded is not None:
            self.timings.append(triton.testing.do_bench(lambda: device.launch(0.5)))
        device.launch(0.02)

def test_tuned():
    assert latency(Tuner().run) == pytest.approx(0.02)
    assert Tuner.timings == []
""")
    assert done.code == 0
    (line,) = done.samples
    assert line["timer"] == "direct"
    assert line["fallback"].startswith("tuning inside capture: ")


def test_a_benchmark_that_times_inside_its_own_function_is_one_row(run: Run) -> None:
    done = run("""
def test_nested():
    latency(lambda: triton.testing.do_bench(lambda: device.launch(0.02), warmup=1, rep=1))
""")
    assert len(done.samples) == 1


POISON = """
@pytest.fixture(autouse=True)
def tidy():
    yield
    device.check()

def test_first():
    latency(lambda: device.launch(0.02))

def test_second():
    latency(lambda: device.launch(0.02, poison="MUSA error: an illegal memory access was encountered"))

def test_third():
    pytest.fail("must not run")
"""


def test_after_a_fatal_row_later_tests_are_not_measured_and_nothing_is_reported_twice(run: Run) -> None:
    done = run(POISON)
    why = "not measured (process poisoned by row 1 of test_bench.py::test_second)"
    assert done.code == 1
    assert done.text.splitlines()[-1].startswith("1 failed, 1 passed, 2 skipped in")
    assert done.text.count("BENCHMARK_FATAL node=") == 1
    assert f"BENCHMARK_NOT_MEASURED node=test_bench.py::test_third: {why}" in done.text
    assert "must not run" not in [line.strip() for line in done.text.splitlines()]
    assert len(done.samples) == 1
    assert done.identity["measurement"]["poisoned"]["blame"] == "operator"


def test_a_tear_down_that_fails_by_itself_is_still_an_error(run: Run) -> None:
    done = run("""
@pytest.fixture(autouse=True)
def tidy():
    yield
    raise ValueError("own fault")

def test_first():
    latency(lambda: device.launch(0.02))
""")
    assert "1 passed, 1 error" in done.text


def test_without_measuring_the_benchmark_is_called_once_and_nothing_is_a_latency(run: Run) -> None:
    done = run(
        """
import math

def test_compiles():
    assert math.isnan(latency(lambda: device.launch(0.02)))
    assert device.launches == 1
    both = triton.testing.do_bench_cudagraph(lambda: device.launch(1), quantiles=(0.5, 0.2))
    assert all(map(math.isnan, both))
    assert device.launches == 2
""",
        ZL_MEASURE="0",
    )
    assert done.code == 0
    assert done.samples == []
    assert done.identity["timer"] == "none"


def test_an_unknown_timer_is_a_usage_error(run: Run) -> None:
    done = run("def test_x():\n    pass\n", ZL_TIMER="fast")
    assert done.code == pytest.ExitCode.USAGE_ERROR


def test_the_vendors_own_timer_is_wrapped_where_it_lives(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    vendor = ModuleType("triton.backends.ascend.testing")

    def do_bench_npu(fn: Any, warmup: int = 5, active: int = 30) -> float:
        fn()
        return 0.3

    vendor.do_bench_npu = do_bench_npu
    monkeypatch.setitem(sys.modules, "triton.backends.ascend", ModuleType("triton.backends.ascend"))
    monkeypatch.setitem(sys.modules, "triton.backends.ascend.testing", vendor)
    done = run(
        """
import sys

def test_npu():
    assert sys.modules["triton.backends.ascend.testing"].do_bench_npu(lambda: device.launch(0.02)) == 0.3
""",
        backend="ascend",
    )
    assert done.code == 0
    assert [line["timer"] for line in done.samples] == ["do_bench_npu"]
    assert done.identity["timer"] == "do_bench_npu"
    assert vendor.do_bench_npu is do_bench_npu


def test_conditions_are_asked_of_the_device_that_the_runner_gave(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    backend = SimpleNamespace(conditions=lambda device: asked.append(device) or {"temperature_c": 40})
    monkeypatch.delenv("ZL_DEVICE", raising=False)
    monkeypatch.delenv("ZL_DEVICE_UUID", raising=False)
    assert timing._conditions(backend)() == {}
    monkeypatch.setenv("ZL_DEVICE", "3")
    monkeypatch.setenv("ZL_DEVICE_UUID", "GPU-1")
    assert timing._conditions(backend)() == {"temperature_c": 40}
    assert (asked[0].index, asked[0].uuid) == (3, "GPU-1")
