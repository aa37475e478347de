from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.timing.timing_fakes import BROKEN_RNG, FakeDevice, kernel
from zlbench_core.backends import get_backend
from zlbench_core.errors import ConfigError
from zlbench_core.timing.fallback import CapturePoisoned
from zlbench_core.timing.journal import Journal
from zlbench_core.timing.samples import NoMeasurement, TimedRequest
from zlbench_core.timing.session import ProcessPoisoned, Settings, Timers, TimingSession

Make = Callable[..., TimingSession]
Lines = Callable[[], list[dict[str, Any]]]
LEGACY = "CUDA error: operation would make the legacy stream depend on a capturing blocking stream"
REFUSED = {
    "cuda": LEGACY,
    "musa": "MUSA error: operation not supported",
    "rocm": "HIP error: operation not permitted when stream is capturing",
}


def asked(fn: Callable[[], Any], **how: Any) -> TimedRequest:
    return TimedRequest(fn, warmup=1, rep=5, return_mode="median", **how)


@pytest.mark.parametrize("backend", ["cuda", "musa"])
def test_one_of_four_rows_refuses_and_only_that_one_falls_back(
    backend: str, session: Make, device: FakeDevice, lines: Lines, capsys: pytest.CaptureFixture[str]
) -> None:
    timing = session(backend)
    for row in range(4):
        traits = {"refuse": REFUSED[backend]} if row == 2 else {}
        assert timing.time(asked(kernel(device, 0.02, **traits))) == pytest.approx(0.02)
    assert [line["timer"] for line in lines()] == ["cuda_graph", "cuda_graph", "direct", "cuda_graph"]
    assert [line["fallback"] for line in lines()] == [None, None, REFUSED[backend], None]
    assert [line["verdict"] for line in lines()] == [None, None, "recoverable", None]
    assert [line["flush_l2"] for line in lines()] == [False, False, True, False]
    (marker,) = capsys.readouterr().out.splitlines()
    assert marker == (f"BENCHMARK_DIRECT_NO_CUDAGRAPH node=test_x.py::test_x row=2: {REFUSED[backend]}")


@pytest.mark.parametrize("backend", ["cuda", "musa"])
def test_a_refusal_leaves_the_random_numbers_and_the_memory_pools_in_order(
    backend: str, session: Make, device: FakeDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        type(get_backend(backend)),
        "process_give_back_pool",
        lambda self, pool: device.pools_in_use.discard(pool),
    )
    timing = session(backend)
    device.generator.draw()
    timing.time(asked(kernel(device, 0.02, refuse=REFUSED[backend])))
    assert device.generator.draw() == 8
    assert device.pools_in_use == set()


def test_without_the_guard_every_later_row_that_draws_would_fail(device: FakeDevice) -> None:
    interface = device.interface("CUDAGraph")
    with pytest.raises(RuntimeError), interface.graph(interface.CUDAGraph()):
        device.launch(1.0, refuse=LEGACY)
    with pytest.raises(RuntimeError, match=BROKEN_RNG):
        device.launch(1.0, draws=True)


def test_a_capture_that_poisons_ends_the_process_and_no_later_row_is_timed(
    session: Make, device: FakeDevice, lines: Lines, capsys: pytest.CaptureFixture[str]
) -> None:
    timing = session("musa")
    timing.time(asked(kernel(device, 0.02)))
    with pytest.raises(CapturePoisoned, match="BENCHMARK_CAPTURE_POISONED: MUSA error: unknown error"):
        timing.time(asked(kernel(device, 0.02, poison="MUSA error: unknown error")))
    launches = device.launches
    with pytest.raises(ProcessPoisoned, match=r"not measured \(process poisoned by row 1 of test_x"):
        timing.time(asked(kernel(device, 0.02)))
    assert device.launches == launches
    assert len(lines()) == 1
    markers = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert markers == ["BENCHMARK_CAPTURE_POISONED", "BENCHMARK_NOT_MEASURED"]


def test_a_refusal_on_a_device_that_fails_its_health_check_poisons(session: Make, device: FakeDevice) -> None:
    timing = session("cuda", known_answer=lambda: False)
    with pytest.raises(CapturePoisoned, match="legacy stream"):
        timing.time(asked(kernel(device, 0.02, refuse=LEGACY)))
    with pytest.raises(ProcessPoisoned):
        timing.time(asked(kernel(device, 0.02)))


@pytest.mark.parametrize(
    "text",
    [
        "CUDA error: an illegal memory access was encountered",
        "CUDA error: device-side assert triggered",
        "CUDA out of memory. Tried to allocate 2.00 GiB.",
    ],
)
def test_a_fatal_capture_is_raised_as_it_is_and_never_becomes_a_latency(
    text: str, session: Make, device: FakeDevice, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    timing = session("cuda")
    with pytest.raises(RuntimeError, match="previous error during capture") as caught:
        timing.time(asked(kernel(device, 0.02, poison=text)))
    assert str(caught.value.__context__) == text
    assert not (tmp_path / "samples.jsonl").exists()
    out = capsys.readouterr().out
    assert out.count("BENCHMARK_FATAL") == 1
    assert "BENCHMARK_DIRECT_NO_CUDAGRAPH" not in out
    assert timing.identity_fields()["measurement"]["poisoned"]["blame"] == "operator"


@pytest.mark.parametrize(
    ("text", "marker", "blame"),
    [
        ("CUDA error: device-side assert triggered", "BENCHMARK_FATAL", "operator"),
        ("CUDA error: uncorrectable ECC error encountered", "BENCHMARK_DEVICE_FAULT", "device"),
        ("No CUDA GPUs are available", "BENCHMARK_ENVIRONMENT_FAILURE", "environment"),
    ],
)
def test_after_a_sticky_error_outside_a_capture_three_of_five_rows_are_not_measured(
    text: str, marker: str, blame: str, session: Make, device: FakeDevice, capsys: pytest.CaptureFixture[str]
) -> None:
    timing, failures = session("cuda", timer="direct"), []
    for row in range(5):
        device.poisoned_by = text if row >= 1 else None
        try:
            timing.time(asked(kernel(device, 0.02)))
        except (RuntimeError, ProcessPoisoned) as error:
            failures.append(type(error).__name__)
    assert failures == ["RuntimeError", *["ProcessPoisoned"] * 3]
    fields = timing.identity_fields()["measurement"]
    assert fields["rows"] == {"direct": 1, "not_measured": 3}
    assert fields["poisoned"]["blame"] == blame
    assert capsys.readouterr().out.split()[0] == marker


def test_a_row_that_fails_by_itself_does_not_stop_the_others(
    session: Make, device: FakeDevice, lines: Lines
) -> None:
    timing = session("cuda")

    def broken() -> None:
        raise ValueError("shape mismatch")

    with pytest.raises(ValueError, match="shape mismatch"):
        timing.time(asked(broken))
    timing.time(asked(kernel(device, 0.02)))
    assert [line["seq"] for line in lines()] == [1]


def test_the_first_call_and_its_tuning_come_before_any_capture(session: Make, device: FakeDevice) -> None:
    tuned_inside: list[bool] = []
    tuned = False

    def tuning_kernel() -> None:
        nonlocal tuned
        if not tuned:
            tuned_inside.append(device.recorded is not None)
            tuned = True
        device.launch(0.02)

    session("musa").time(asked(tuning_kernel))
    assert tuned_inside == [False]


@pytest.mark.parametrize("how", [{"op": "unique2"}, {}])
def test_a_denied_op_is_never_captured(
    how: dict[str, str], session: Make, device: FakeDevice, lines: Lines, capsys: pytest.CaptureFixture[str]
) -> None:
    timing = session("musa", **how)
    timing.op = "unique2"
    timing.time(asked(kernel(device, 0.02)))
    assert device.captures == 0
    (line,) = lines()
    assert (line["timer"], line["verdict"]) == ("direct", None)
    assert line["fallback"] == "unique2 is on the deny list of captures"
    assert "BENCHMARK_DIRECT_NO_CUDAGRAPH" in capsys.readouterr().out


def test_the_deny_list_of_one_backend_is_not_anothers(session: Make, device: FakeDevice) -> None:
    session("cuda", op="unique2").time(asked(kernel(device, 0.02)))
    assert device.captures == 1


@pytest.mark.parametrize(
    ("backend", "timer", "used"),
    [
        ("cuda", "auto", "cuda_graph"),
        ("cuda", "direct", "direct"),
        ("musa", "capture", "cuda_graph"),
        ("rocm", "auto", "direct"),
        ("rocm", "capture", "cuda_graph"),
        ("cpu", "auto", "direct"),
    ],
)
def test_the_timer_follows_the_backend_and_what_was_asked(
    backend: str, timer: str, used: str, session: Make, device: FakeDevice
) -> None:
    timing = session(backend, timer=timer)
    timing.time(asked(kernel(device, 0.02)))
    fields = timing.identity_fields()
    assert fields["timer"] == used
    assert fields["measurement"]["timer_asked"] == timer
    expected = {"cuda_graph": "none", "direct": "none" if backend == "cpu" else "l2"}
    assert fields["measurement"]["flush"] == expected[used]


def test_rocm_captures_only_when_asked_and_falls_back_like_the_others(
    session: Make, device: FakeDevice, lines: Lines
) -> None:
    timing = session("rocm", timer="capture")
    timing.time(asked(kernel(device, 0.02, refuse=REFUSED["rocm"])))
    timing.time(asked(kernel(device, 0.02, draws=True)))
    assert [line["fallback"] for line in lines()] == [REFUSED["rocm"], None]


def test_capture_on_an_interface_without_graphs_is_refused(session: Make, device: FakeDevice) -> None:
    with pytest.raises(ConfigError, match="ZL_TIMER=capture: the cpu device interface has no graph"):
        session("cpu", timer="capture").time(asked(kernel(device, 0.02)))


def test_a_run_whose_rows_all_fell_back_is_a_direct_run(session: Make, device: FakeDevice) -> None:
    timing = session("musa")
    for _ in range(2):
        timing.time(asked(kernel(device, 0.02, refuse=REFUSED["musa"])))
    fields = timing.identity_fields()
    assert fields["timer"] == "direct"
    assert fields["measurement"]["fallbacks"] == {REFUSED["musa"]: 2}
    timing.time(asked(kernel(device, 0.02)))
    fields = timing.identity_fields()
    assert fields["timer"] == "cuda_graph"
    assert fields["measurement"]["rows"] == {"direct": 2, "cuda_graph": 1}
    assert (fields["measurement"]["warmup_ms"], fields["measurement"]["iter_ms"]) == (1, 5)


def test_a_run_without_a_row_claims_no_timer(session: Make) -> None:
    assert "timer" not in session("cuda").identity_fields()


def test_repeats_keep_every_sample_and_return_the_median_of_the_calls(
    session: Make, device: FakeDevice, lines: Lines
) -> None:
    costs: Iterator[float] = iter([0.3] * 8 + [0.1] * 8 + [0.2] * 8)

    def once(fn: Any, warmup: Any, rep: Any, grad: Any, quantiles: Any, mode: Any) -> list[float]:
        assert (quantiles, mode) == (None, "all")
        return [next(costs) for _ in range(8)]

    timing = session("cpu", repeat=3)
    object.__setattr__(timing.timers, "direct", once)
    assert timing.time(asked(print)) == 0.2
    (line,) = lines()
    assert (len(line["samples_ms"]), line["value_ms"]) == (24, 0.2)
    assert timing.identity_fields()["direct_repeat"] == 3


@pytest.mark.parametrize("how", [{"quantiles": (0.5, 0.2, 0.8)}, {"return_mode": "all"}])
def test_a_sequence_is_not_repeated(
    how: dict[str, Any], session: Make, device: FakeDevice, lines: Lines
) -> None:
    timing = session("cpu", repeat=3)
    value = timing.time(TimedRequest(kernel(device, 0.5), warmup=1, rep=5, **how))
    assert len(value) == (3 if "quantiles" in how else 10)
    (line,) = lines()
    assert len(line["samples_ms"]) == 10
    assert line["value_ms"] == pytest.approx(0.5)


def test_a_line_of_samples_has_the_fields_of_the_contract(
    session: Make, device: FakeDevice, lines: Lines
) -> None:
    session("musa").time(asked(kernel(device, 0.02)))
    (line,) = lines()
    assert list(line) == [
        "seq",
        "node",
        "timer",
        "flush_l2",
        "batch",
        "samples_ms",
        "value_ms",
        "fallback",
        "verdict",
    ]
    assert (line["seq"], line["node"], line["batch"]) == (0, "test_x.py::test_x", 1)


def test_conditions_stand_beside_the_samples(session: Make, device: FakeDevice, tmp_path: Path) -> None:
    timing = session("musa")
    object.__setattr__(timing.timers, "conditions", lambda: {"sm_clock_mhz": 1980})
    timing.time(asked(kernel(device, 0.02)))
    assert "sm_clock_mhz" not in (tmp_path / "samples.jsonl").read_text()
    assert '"sm_clock_mhz": 1980' in (tmp_path / "conditions.jsonl").read_text()
    assert "conditions" not in timing.identity_fields()


def test_without_a_folder_nothing_is_written(device: FakeDevice, tmp_path: Path, session: Make) -> None:
    timing = session("musa")
    timing.journal = Journal(None)
    timing.time(asked(kernel(device, 0.02)))
    assert list(tmp_path.iterdir()) == []


def own_timer_session(tmp_path: Path) -> TimingSession:
    timers = Timers(pytest.fail, pytest.fail, lambda: SimpleNamespace(), lambda: True)
    return TimingSession(get_backend("ascend"), Settings(), timers, Journal(tmp_path))


def test_a_vendors_own_timer_is_recorded_as_what_it_is(tmp_path: Path, lines: Lines) -> None:
    timing = own_timer_session(tmp_path)
    assert timing.time_own("do_bench_npu", lambda: 0.3) == 0.3
    assert timing.identity_fields()["timer"] == "do_bench_npu"
    assert timing.identity_fields()["measurement"]["flush"] == "none"
    (line,) = lines()
    assert (line["timer"], line["samples_ms"], line["fallback"]) == ("do_bench_npu", [0.3], None)


@pytest.mark.parametrize("value", [math.inf, 0.0, math.nan, -1.0, [0.3, math.inf], []])
def test_what_a_vendors_own_timer_returns_is_checked(value: Any, tmp_path: Path) -> None:
    timing = own_timer_session(tmp_path)
    with pytest.raises(NoMeasurement):
        timing.time_own("do_bench_npu", lambda: value)
    assert not (tmp_path / "samples.jsonl").exists()


def test_an_error_of_a_vendors_own_timer_is_the_rows_failure(tmp_path: Path) -> None:
    timing = own_timer_session(tmp_path)
    with pytest.raises(IndexError):
        timing.time_own("do_bench_npu", lambda: [][0])
    assert timing.time_own("do_bench_npu", lambda: 0.3) == 0.3


def test_a_capture_that_a_tuner_lost_before_the_row_leaves_the_random_numbers_in_order(
    session: Make, device: FakeDevice
) -> None:
    timing = session("musa")
    interface = device.interface("MUSAGraph")

    def tunes_by_capture() -> None:
        with interface.graph(interface.MUSAGraph()):
            device.launch(1.0, refuse=REFUSED["musa"])

    with pytest.raises(RuntimeError, match="previous error"):
        timing.time(asked(tunes_by_capture))
    assert timing.time(asked(kernel(device, 0.02, draws=True))) == pytest.approx(0.02)
