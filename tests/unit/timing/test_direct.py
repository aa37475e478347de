from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.unit.timing.timing_fakes import FakeDevice, FakeDriver, kernel
from zlbench_core.plugins import cudagraph
from zlbench_core.timing.direct import measure_batches, measure_direct, parse_repeat, repeated
from zlbench_core.timing.samples import NoMeasurement, TimedRequest

Activate = Callable[[str], FakeDriver]


@pytest.mark.parametrize(
    ("text", "times"),
    [(None, 1), ("", 1), ("3", 3), (" 5 ", 5), ("0", 1), ("-4", 1), ("many", 1), ("2.5", 1), ("1e3", 1)],
)
def test_direct_repeat_is_a_positive_whole_number_or_1(
    text: str | None, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert parse_repeat(text) == times
    monkeypatch.delenv("ZL_DIRECT_REPEAT", raising=False)
    if text is not None:
        monkeypatch.setenv("ZL_DIRECT_REPEAT", text)
    assert cudagraph.direct_repeat() == times


def test_a_repeated_latency_is_the_median_of_the_calls() -> None:
    values: Iterator[float] = iter([0.9, 0.1, 0.2])
    assert repeated(lambda: next(values), 3) == 0.2
    assert next(values, None) is None


@pytest.mark.parametrize("sequence", [[0.1, 0.2], (0.1,), []])
def test_a_sequence_is_never_repeated(sequence: Any) -> None:
    calls: list[int] = []
    assert repeated(lambda: calls.append(1) or sequence, 5) is sequence
    assert len(calls) == 1


def test_run_direct_asks_upstream_as_it_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(cudagraph, "_ORIGINAL_DO_BENCH", lambda fn, **how: asked.append(how) or len(asked))
    monkeypatch.setenv("ZL_DIRECT_REPEAT", "5")
    assert cudagraph.run_direct(print, 7, 9, None, None, "median") == statistics.median([1, 2, 3, 4, 5])
    assert asked[0] == {
        "warmup": 7,
        "rep": 9,
        "grad_to_none": None,
        "quantiles": None,
        "return_mode": "median",
    }
    assert asked == [asked[0]] * 5


def test_direct_samples_are_upstreams_with_the_cache_flushed_before_each(
    device: FakeDevice, activate: Activate
) -> None:
    driver = activate("cpu")
    request = TimedRequest(kernel(device, 0.5), warmup=1, rep=5)
    samples = measure_direct(cudagraph.run_direct, driver.get_device_interface(), request, flushes=True)
    assert samples.values_ms == pytest.approx((0.5,) * 10)
    assert (samples.timer, samples.batch, samples.flush_l2) == ("direct", 1, True)
    assert driver.flushes == 5 + 10


@pytest.mark.parametrize("cost_ms", [0.0004, 0.00003])
def test_a_kernel_shorter_than_the_events_can_tell_is_timed_in_batches(
    cost_ms: float, device: FakeDevice, activate: Activate
) -> None:
    device.tick_ms = 32e-6
    driver = activate("cpu")
    request = TimedRequest(kernel(device, cost_ms), warmup=0.01, rep=1)
    samples = measure_direct(cudagraph.run_direct, driver.get_device_interface(), request, flushes=True)
    assert samples.batch > 1
    assert samples.batch * cost_ms >= 0.1
    assert samples.flush_l2 is False
    assert statistics.median(samples.values_ms) == pytest.approx(cost_ms, rel=0.001)


def test_upstreams_division_by_an_estimate_of_zero_leads_to_batches(
    device: FakeDevice, activate: Activate
) -> None:
    device.tick_ms = 0.05
    driver = activate("cpu")
    request = TimedRequest(kernel(device, 0.001), warmup=1, rep=1)
    samples = measure_direct(cudagraph.run_direct, driver.get_device_interface(), request, flushes=True)
    assert samples.batch == 128
    assert statistics.median(samples.values_ms) == pytest.approx(0.001, rel=0.5)


def test_a_division_by_zero_of_the_benchmark_itself_is_its_own_failure(activate: Activate) -> None:
    driver = activate("cpu")
    request = TimedRequest(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        measure_direct(cudagraph.run_direct, driver.get_device_interface(), request, flushes=True)


def test_work_that_takes_no_time_is_no_measurement(device: FakeDevice, activate: Activate) -> None:
    interface = activate("cpu").get_device_interface()
    with pytest.raises(NoMeasurement, match=r"no measurement: \d+ calls take 0.0 ms"):
        measure_batches(interface, TimedRequest(lambda: None))


def test_batches_clear_gradients_before_every_call(device: FakeDevice, activate: Activate) -> None:
    class Tensor:
        grad: Any = "old"

    tensor, seen = Tensor(), []

    def backward() -> None:
        seen.append(tensor.grad)
        tensor.grad = "new"
        device.launch(0.05)

    measure_batches(activate("cpu").get_device_interface(), TimedRequest(backward, grad_to_none=[tensor]))
    assert set(seen) == {None}


def test_a_few_launches_that_seem_to_take_no_time_lead_to_batches_too(activate: Activate) -> None:
    def bench(*_: Any) -> list[float]:
        return [0.05, 0.0, 0.05, 0.05]

    driver = activate("cpu")
    request = TimedRequest(kernel(driver.device, 0.04), warmup=1, rep=1)
    samples = measure_direct(bench, driver.get_device_interface(), request, flushes=True)
    assert samples.values_ms == pytest.approx((0.04,) * len(samples.values_ms))
    assert samples.batch == 4
