"""A torch.cuda-like device interface over the host's clock, for code that times a device by events."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

TUNING_CALLS = 2


class Stream:
    """The one queue of the interpreter: a launch has ended when it returns; nothing is waited for."""

    cuda_stream = 0

    def synchronize(self) -> None:
        pass

    def wait_event(self, event: Event) -> None:
        pass

    def wait_stream(self, stream: Stream) -> None:
        pass


class Event:
    """A point in time on time.perf_counter."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self._seconds: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        self._seconds = time.perf_counter()

    def synchronize(self) -> None:
        pass

    def wait(self, stream: Stream | None = None) -> None:
        pass

    def query(self) -> bool:
        return True

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to `end`. Raises RuntimeError when one of them was not recorded."""
        if self._seconds is None or end._seconds is None:
            raise RuntimeError("elapsed_time: both events must be recorded first")
        return (end._seconds - self._seconds) * 1e3


_Stream = Stream  # the class below has an attribute of that name


class DeviceInterface:
    """The functions of torch.cuda that Triton and benchmarks call, for one device whose queue is the host."""

    Event = Event
    Stream = Stream

    def __init__(self) -> None:
        self._stream = Stream()

    def is_available(self) -> bool:
        return True

    def device_count(self) -> int:
        return 1

    def current_device(self) -> int:
        return 0

    def set_device(self, device: int) -> None:
        if device != 0:
            raise RuntimeError(f"device {device} of the cpu backend does not exist; allowed: 0")

    def current_stream(self, device: int | None = None) -> _Stream:
        return self._stream

    default_stream = current_stream

    @contextmanager
    def stream(self, stream: _Stream | None) -> Iterator[None]:
        yield

    def synchronize(self, device: int | None = None) -> None:
        pass

    def empty_cache(self) -> None:
        pass


def benchmark(call: Callable[[], Any], *, quantiles: Sequence[float] | None = None, **_: Any) -> Any:
    """Time one tuner candidate: the median, or the asked quantiles, of a few calls after one call, in ms.

    Deliberately not triton.testing.do_bench: a tuner's probes are not rows of the benchmark, and at the
    interpreter's speed its default 125 ms per candidate would be most of a run.
    """
    call()
    times = sorted(_milliseconds(call) for _ in range(TUNING_CALLS))
    if quantiles is None:
        return times[len(times) // 2]
    return [times[round(q * (len(times) - 1))] for q in quantiles]


def _milliseconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3
