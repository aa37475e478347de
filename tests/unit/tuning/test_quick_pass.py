"""The quick timer on a device that runs what the host queues, each on a clock of its own."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from zlbench_core.tuning.quick_pass import LAUNCHES, QuickTimer

US = 1e-3  # in milliseconds


@dataclass
class Device:
    """A queue: the device starts a piece of work when it is free and the host has queued it. Milliseconds."""

    kernel: float
    host: float
    clear_takes: float = 60 * US
    now: float = 0.0
    free: float = 0.0

    def launch(self) -> None:
        self._queue(self.host, self.kernel)

    def clear(self) -> None:
        self._queue(5 * US, self.clear_takes)

    def synchronize(self) -> None:
        self.now = max(self.now, self.free)

    def clock(self) -> float:
        return self.now / 1e3

    def _queue(self, host: float, device: float) -> None:
        self.now += host
        self.free = max(self.free, self.now) + device

    def Event(self, enable_timing: bool):
        device = self

        class Event:
            def record(self) -> None:
                device.now += 2 * US
                self.at = max(device.free, device.now)

            def query(self) -> bool:
                return self.at <= device.now

            def elapsed_time(self, end) -> float:
                return end.at - self.at

        return Event()


@pytest.mark.parametrize("best", [float("inf"), 10 * US])
@pytest.mark.parametrize("cold", [False, True])
@pytest.mark.parametrize("kernel", [3 * US, 12 * US, 500 * US])
@pytest.mark.parametrize("host", [5 * US, 100 * US, 300 * US])
def test_a_kernel_shorter_than_its_launch_is_timed_without_the_launch(kernel, host, cold, best):
    device = Device(kernel, host)
    timer = QuickTimer(device, device.clear, cold, device.clock)
    # With a best that is known, one launch decides: on an H200 nearly every config of mm was dropped by its launch.
    assert timer.measure(device.launch, best_ms=best) == pytest.approx(kernel, rel=0.01, abs=0.1 * US)


def test_the_order_of_two_kernels_does_not_depend_on_what_their_launches_cost():
    quick = []
    for kernel, host in ((3 * US, 250 * US), (6 * US, 30 * US)):
        device = Device(kernel, host)
        quick.append(QuickTimer(device, device.clear, False, device.clock).measure(device.launch, 1.0))
    assert quick[0] < quick[1]


@pytest.mark.parametrize("cold", [False, True])
def test_a_host_that_stops_between_an_event_and_its_launch_is_noticed_and_timed_again(cold):
    device = Device(6 * US, 20 * US)
    stops = iter([0, 0, 0, 30, 0, 30, 30])  # milliseconds; the third is behind the first timed event

    def launch():
        device.now += next(stops, 0)
        device.launch()

    quick = QuickTimer(device, device.clear, cold, device.clock)
    assert quick.measure(launch, best_ms=6 * US) == pytest.approx(6 * US, rel=0.01)


def test_a_slow_kernel_far_beyond_the_best_is_launched_twice():
    device = Device(80.0, 20 * US)
    launched = []
    quick = QuickTimer(device, device.clear, True, device.clock, host_ms=0.02)
    quick.measure(lambda: launched.append(device.launch()), best_ms=2.0)
    assert len(launched) == 2


def counted(device: Device, launched: list) -> None:
    device.launch()
    launched.append(device.now)


def test_one_launch_is_enough_for_what_alone_is_far_beyond_a_slow_best():
    device, launched = Device(16.0, 20 * US), []
    timer = QuickTimer(device, device.clear, True, device.clock, host_ms=0.02)
    timer.measure(device.launch, best_ms=float("inf"))  # the device is at work
    quick = timer.measure(lambda: counted(device, launched), best_ms=2.1)
    assert (len(launched), timer.late) == (1, False)
    assert 15 < quick <= 16


def test_the_first_launch_of_a_device_that_stood_still_drops_nothing():
    device, clocks = Device(2.0, 20 * US), iter([4.0])  # its clocks are low, and rise

    def launch():
        device._queue(20 * US, 2.0 * next(clocks, 1.0))

    timer = QuickTimer(device, device.clear, True, device.clock, host_ms=0.02)
    timer.measure(device.launch, best_ms=float("inf"))
    device.now += 100.0
    assert timer.measure(launch, best_ms=2.1) == pytest.approx(2.0, rel=0.01)


@pytest.mark.parametrize("where", ["before the launch", "behind the launch"])
def test_a_host_that_stops_around_the_first_launch_does_not_make_a_kernel_hopeless(where):
    device, stops = Device(2.2, 20 * US), iter([15.0])

    def launch():
        device.now += next(stops, 0.0) if where == "before the launch" else 0.0
        device.launch()
        device.now += next(stops, 0.0)

    timer = QuickTimer(device, device.clear, True, device.clock, host_ms=0.02)
    timer.measure(device.launch, best_ms=float("inf"))
    assert timer.measure(launch, best_ms=2.1) == pytest.approx(2.2, rel=0.01)


def test_a_short_kernel_is_launched_once_and_then_as_often_as_it_takes():
    device, launched = Device(6 * US, 20 * US), []
    timer = QuickTimer(device, device.clear, True, device.clock, host_ms=0.02)
    timer.measure(lambda: counted(device, launched), best_ms=float("inf"))
    assert len(launched) == 1 + LAUNCHES


def test_one_launch_that_enclosed_no_waiting_is_enough_for_a_kernel_far_beyond_the_best():
    device, launched = Device(1.0, 20 * US), []
    timer = QuickTimer(device, device.clear, True, device.clock, host_ms=0.02)
    assert timer.measure(lambda: counted(device, launched), best_ms=0.2) == pytest.approx(1.0, rel=0.01)
    assert len(launched) == 2, "the first, which may enclose loading, and one behind a filled queue"


def test_where_the_device_does_not_queue_no_single_launch_decides():
    device, launched = Device(1.0, 20 * US), []

    def launch():
        counted(device, launched)
        device.synchronize()

    timer = QuickTimer(device, lambda: None, True, device.clock, host_ms=1.0)
    timer.measure(launch, best_ms=0.2)
    assert (timer.queues, len(launched)) == (False, 3)


def test_loading_a_binary_does_not_drop_a_fast_kernel():
    device = Device(6 * US, 20 * US)
    loads = iter([15.0])

    def launch():
        device._queue(20 * US, 6 * US + next(loads, 0.0))

    quick = QuickTimer(device, device.clear, True, device.clock, host_ms=0.02)
    assert quick.measure(launch, best_ms=6 * US) == pytest.approx(6 * US, rel=0.01)


def test_a_device_that_does_not_queue_is_tried_a_few_times_and_then_believed():
    device = Device(6 * US, 20 * US)
    launched = []

    def launch():
        launched.append(device.launch())
        device.synchronize()

    quick = QuickTimer(device, lambda: None, False, device.clock)
    quick.measure(launch, best_ms=1.0)
    first = len(launched)
    quick.measure(launch, best_ms=1.0)
    assert (quick.queues, len(launched) - first < first) == (False, True)


@pytest.mark.parametrize("cold", [False, True])
def test_a_host_that_is_late_each_time_is_believed_to_be_late_and_the_device_still_to_queue(cold):
    device = Device(6 * US, 20 * US)
    stopping = []

    def launch():
        device.now += 500.0 if stopping else 0.0
        device.launch()

    quick = QuickTimer(device, device.clear, cold, device.clock)
    stopping.append(True)
    assert quick.measure(launch, best_ms=6 * US) > 100 * US
    assert quick.late
    stopping.clear()
    assert quick.measure_again(launch, 6 * US) == pytest.approx(6 * US, rel=0.01)
    assert not quick.late
