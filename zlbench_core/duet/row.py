"""A side's half of a row: how it samples, and one block of samples. It is called only while the device is its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import pairwise
from types import ModuleType
from typing import Any

from zlbench_core.records.messages import DIRECT, GRAPH
from zlbench_core.timing.capture import (
    captured_graph,
    detach_gradients,
    elapsed_ms,
    empty_graph_is_an_error,
)
from zlbench_core.timing.direct import clear_gradients
from zlbench_core.timing.samples import CUDA_GRAPH, Samples, TimedRequest


@dataclass(frozen=True)
class BlockTimes:
    """Milliseconds per call, sample by sample, and what both parts of the block cost the device."""

    discarded_ms: tuple[float, ...]
    samples_ms: tuple[float, ...]
    discarded_spent_ms: float
    spent_ms: float


class RowSampler:
    """Samples one row: a graph of `launches` calls, or so many direct calls, between two events.

    Where a sample is a single direct call, `flush` runs before it, as in do_bench.
    """

    def __init__(self, interface: ModuleType | Any, request: TimedRequest, flush: Callable[[], None]) -> None:
        self.interface, self.request, self._flush = interface, request, flush
        self.way, self.launches = DIRECT, 1
        self._graph: Any = None
        self._stream: Any = None

    @property
    def flushes(self) -> bool:
        return self.way == DIRECT and self.launches == 1

    def capture(self, launches: int) -> Samples:
        """Capture the graph that every block replays, and replay it once. Raises what a capture raises."""
        self._stream = self.interface.Stream()
        with self._on_stream():
            detach_gradients(self.request)
            with empty_graph_is_an_error():
                graph = captured_graph(self.interface, self.request, launches)
            self.interface.synchronize()
            value = elapsed_ms(self.interface, graph.replay) / launches
        self.way, self.launches, self._graph = GRAPH, launches, graph
        return Samples(CUDA_GRAPH, (value,), flush_l2=False, batch=launches)

    def go_direct(self, launches: int) -> None:
        """Forget the graph, if there is one: the other side cannot have one."""
        self.way, self.launches, self._graph, self._stream = DIRECT, launches, None, None

    def sample_ms(self) -> float:
        """Milliseconds of one sample, all its launches together; one goes before it, which is slower."""
        return self.block(1, 1).samples_ms[0] * self.launches

    def block(self, discard: int, count: int) -> BlockTimes:
        """Run `discard` samples and then `count`, without waiting in between."""
        with self._on_stream():
            marks, pairs = [self._now()], []
            for number in range(discard + count):
                if number == discard:
                    marks.append(self._now())
                pairs.append(self._sample())
            marks.append(self._now())
            self.interface.synchronize()
        times = tuple(start.elapsed_time(end) / self.launches for start, end in pairs)
        spent = [start.elapsed_time(end) for start, end in pairwise(marks)]
        return BlockTimes(times[:discard], times[discard:], *spent)

    def _sample(self) -> tuple[Any, Any]:
        if self.flushes:
            self._flush()
        if self._graph is not None:
            start = self._now()
            self._graph.replay()
            return start, self._now()
        start = self._now()
        for _ in range(self.launches):
            clear_gradients(self.request)
            self.request.fn()
        return start, self._now()

    def _now(self) -> Any:
        event = self.interface.Event(enable_timing=True)
        event.record()
        return event

    def _on_stream(self) -> AbstractContextManager[Any]:
        return nullcontext() if self._stream is None else self.interface.stream(self._stream)
