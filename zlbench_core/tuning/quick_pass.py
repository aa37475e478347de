"""A few launches of a config, timed on the device: enough to tell what cannot win."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from zlbench_core.pins.near_ties import Timing
from zlbench_core.tuning.early_drop import limit_ms

LAUNCHES = 3
QUIET_LAUNCHES = 7
RETRIES = 4
FILL_MARGIN = 2.0
FILL_LIMIT_MS = 4.0
LONGEST_FILL_MS = 40.0
PROBES = 5
ENOUGH_MS = 2.0
AGREEMENT = 0.1
FAR = 2.0  # times the limit: what one launch that enclosed no waiting puts beyond it is launched no more
EVENT_LATENCY_MS = 0.1  # how much later than the host queued it an idle device may begin, generously
IDLE_MS = 20.0  # a device that stood still for longer may have lowered its clocks
WARM, COLD = "warm", "cold"


@dataclass
class QuickTimer:
    """Times single launches with the device's events, the queue filled first.

    A small kernel takes less time than its launch. So the device is kept busy with cache clears until the
    host has queued the launches, and the events then enclose the kernel alone. When the device reaches the first
    event before the host has queued the last (a busy host, a stop of the interpreter), the times enclose waiting:
    it is done again behind a longer queue. Where that fails each time, `late` says that the time is too long.
    `cold` clears the cache before each launch, as the tuner's own timer does; otherwise an untimed launch warms it.
    """

    interface: Any  # the device interface: Event, synchronize
    clear: Callable[[], None]
    cold: bool
    clock: Callable[[], float] = time.perf_counter
    fill_ms: float | None = None
    host_ms: float | None = None  # what one launch costs the host
    late: bool = False  # whether each attempt of the last measurement enclosed waiting
    busy_until: float = -math.inf  # on the host's clock, in seconds

    def measure(self, launch: Callable[[], None], best_ms: float) -> float:
        """The quickest of a few launches in milliseconds; `best_ms` is the best config's so far.

        A short kernel gets them all at once. Two that agree are enough for a slow one. One is for a kernel that is far
        beyond the best; the first, which may enclose waiting for the host, where the rest of it alone is that long.
        """
        self.late = True
        first, at_least = self._first(launch)
        far = FAR * limit_ms(best_ms)
        if best_ms > ENOUGH_MS and at_least > far:
            self.late = False
            return at_least
        if first * LAUNCHES < ENOUGH_MS:
            return self._timed(launch, LAUNCHES)
        quick, late = self._attempt(launch, 1, FILL_MARGIN)
        agrees = quick > ENOUGH_MS and abs(first - quick) < AGREEMENT * quick
        if not late and (agrees or (self.queues and min(first, quick) > far)):
            return min(first, quick)
        if late:
            quick = min(quick, self._timed(launch, 1))
        return min(quick, self._timed(launch, 1 if quick > far else _count(quick, LAUNCHES)))

    def measure_again(self, launch: Callable[[], None], quick_ms: float) -> float:
        """The quickest of more launches in milliseconds, for one that took `quick_ms`, near the best."""
        self.late = True
        return self._timed(launch, _count(quick_ms, QUIET_LAUNCHES))

    def _first(self, launch: Callable[[], None]) -> tuple[float, float]:
        """The first launch, and how much of it the device was surely busy at full speed: what the host needed may be
        waiting, and a device that stood still before says nothing."""
        start, end = self._pair()
        asked = self.clock()
        idle_ms = (asked - self.busy_until) * 1e3
        start.record()
        launch()
        end.record()
        host_ms = (self.clock() - asked) * 1e3
        self._wait()
        if self.host_ms is None:
            self.host_ms = self._host_ms(launch)
        first = start.elapsed_time(end)
        return first, first - host_ms - EVENT_LATENCY_MS if idle_ms < IDLE_MS else 0.0

    def _wait(self) -> None:
        self.interface.synchronize()
        self.busy_until = self.clock()

    def _host_ms(self, launch: Callable[[], None]) -> float:
        started = self.clock()
        launch()
        took = (self.clock() - started) * 1e3
        self.interface.synchronize()
        return took

    def _timed(self, launch: Callable[[], None], count: int) -> float:
        quickest, margin = float("inf"), FILL_MARGIN
        for _ in range(RETRIES):
            ms, late = self._attempt(launch, count, margin)
            quickest = min(quickest, ms)
            if not late:
                return quickest
            margin *= 3
        return quickest

    @cached_property
    def queues(self) -> bool:
        """Whether the device runs behind the host; asked once, a few times over, since a busy host may be late."""
        return any(self._is_behind() for _ in range(PROBES))

    def _is_behind(self) -> bool:
        event, _ = self._pair()
        self._fill(FILL_LIMIT_MS, FILL_LIMIT_MS)
        event.record()
        behind = not event.query()
        self.interface.synchronize()
        return behind

    def _attempt(self, launch: Callable[[], None], count: int, margin: float) -> tuple[float, bool]:
        asks_late = self.queues
        # The host also queues the warming launch or the clears, and the events, before the last timed launch.
        limit = min(LONGEST_FILL_MS, FILL_LIMIT_MS * margin / FILL_MARGIN)
        self._fill(margin * (count + 1) * (self.host_ms or 0.0), limit)
        if not self.cold:
            launch()
        events = [self._pair() for _ in range(count)]
        for start, end in events:
            if self.cold:
                self.clear()
            start.record()
            launch()
            end.record()
        late = asks_late and events[0][0].query()
        self.late = self.late and late
        self._wait()
        return min(start.elapsed_time(end) for start, end in events), late

    def _pair(self) -> tuple[Any, Any]:
        return self.interface.Event(enable_timing=True), self.interface.Event(enable_timing=True)

    def _fill(self, needed_ms: float, limit_ms: float) -> None:
        """Queue cache clears that take at least `needed_ms`, or `limit_ms`: a device may not queue."""
        if self.fill_ms is None:
            self.fill_ms = self._clear_ms()
        wanted = min(needed_ms, limit_ms)
        for _ in range(max(1, math.ceil(wanted / self.fill_ms))):
            self.clear()

    def _clear_ms(self) -> float:
        start, end = self._pair()
        self.clear()
        start.record()
        for _ in range(4):
            self.clear()
        end.record()
        self.interface.synchronize()
        return max(start.elapsed_time(end) / 4, 0.01)


def _count(ms: float, most: int) -> int:
    """How many launches of `ms` milliseconds are worth their time: one of a slow kernel tells as much as many."""
    return max(1, min(most, round(ENOUGH_MS / max(ms, 1e-6))))


def make_timer(cold: bool) -> QuickTimer | None:
    """A timer for the active device, or None where the driver cannot clear a cache or record events."""
    from triton.runtime.driver import driver

    active = driver.active
    try:
        interface, buffer = active.get_device_interface(), active.get_empty_cache_for_benchmark()
        clear = getattr(active, "clear_cache", None) or (lambda buffer: buffer.zero_())
        interface.Event(enable_timing=True)
    except (AttributeError, NotImplementedError):
        return None
    return QuickTimer(interface, lambda: clear(buffer), cold)


def cache_policy(tuner: Any) -> str | None:
    """Whether the tuner's own timer keeps the cache warm or clears it; None when it times by some function,
    whose order of configs ours need not share."""
    protocol = getattr(tuner, "benchmark_protocol", None)
    if protocol is not None:
        return WARM if str(getattr(protocol, "cache_policy", "")).startswith(WARM) else COLD
    if getattr(tuner, "use_cuda_graph", False):
        return WARM
    if getattr(tuner, "num_warmups", None) is not None or getattr(tuner, "num_reps", None) is not None:
        return COLD
    own = tuner._do_bench if hasattr(tuner, "_do_bench") else getattr(tuner, "do_bench", None)
    standard = own is None or getattr(own, "__module__", "") == "triton.testing"
    return COLD if standard else None


def quick_ms(tuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], config: Any, bench: Any) -> float:
    """One config through the tuner's own `_bench`, hooks and refusals included, with `bench` as its timer.

    inf for a config that the tuner refuses.
    """
    with _instead(tuner, bench):
        return Timing.of(tuner._bench(*args, config=config, **kwargs)).p50


@contextmanager
def _instead(tuner: Any, bench: Any) -> Iterator[None]:
    had, before = "do_bench" in vars(tuner), vars(tuner).get("do_bench")
    tuner.do_bench = lambda kernel_call, quantiles: [bench(kernel_call)] * 3
    try:
        yield
    finally:
        if had:
            tuner.do_bench = before
        else:
            del tuner.do_bench
