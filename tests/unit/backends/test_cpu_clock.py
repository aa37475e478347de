from __future__ import annotations

import pytest

from zlbench_core.backends import cpu_clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that time.perf_counter returns, one after the other."""
    seconds: list[float] = []
    monkeypatch.setattr(cpu_clock.time, "perf_counter", lambda: seconds.pop(0))
    return seconds


def test_elapsed_time_is_in_milliseconds(clock: list[float]) -> None:
    clock += [10.0, 10.25]
    start, end = cpu_clock.Event(enable_timing=True), cpu_clock.Event(enable_timing=True)
    start.record()
    end.record()
    assert start.elapsed_time(end) == 250.0


def test_elapsed_time_of_an_event_that_was_not_recorded_is_an_error() -> None:
    start = cpu_clock.Event()
    start.record()
    with pytest.raises(RuntimeError, match="recorded"):
        start.elapsed_time(cpu_clock.Event())


def test_tuner_candidate_is_called_once_before_it_is_timed(clock: list[float]) -> None:
    calls: list[int] = []
    clock += [0.0, 0.004, 1.0, 1.002]
    times = cpu_clock.benchmark(lambda: calls.append(len(clock)), quantiles=(0.5, 0.2, 0.8))
    assert calls == [4, 3, 1]
    assert times == pytest.approx([2.0, 2.0, 4.0])


def test_interface_has_one_device() -> None:
    interface = cpu_clock.DeviceInterface()
    assert (interface.device_count(), interface.current_device()) == (1, 0)
    interface.set_device(0)
    with pytest.raises(RuntimeError, match="allowed: 0"):
        interface.set_device(1)
