"""A device that behaves like torch's device interfaces do: a clock, streams, events, graphs, a generator.

What the real ones were seen to do is reproduced: torch.cuda.graph's exit raises on a refused capture before
it has tidied up, so that the generator still believes that it captures and the graph's pool is still in use.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

PREVIOUS_ERROR = "CUDA error: operation failed due to a previous error during capture"
BROKEN_RNG = "Offset increment outside graph capture encountered unexpectedly."


class FakeGenerator:
    """CUDAGeneratorImpl as far as a capture concerns it."""

    def __init__(self, device: FakeDevice, offset: int = 0, capturing: bool = False) -> None:
        self._device = device
        self.state = {"offset": offset, "capturing": capturing}

    def draw(self) -> int:
        if self.state["capturing"] and self._device.recorded is None:
            raise RuntimeError(BROKEN_RNG)
        self.state["offset"] += 4
        return self.state["offset"]

    def get_state(self) -> int:
        return self.state["offset"]

    def set_state(self, offset: int) -> None:
        self.state["offset"] = offset

    def clone_state(self) -> FakeGenerator:
        return FakeGenerator(self._device, self.state["offset"])

    def graphsafe_set_state(self, other: FakeGenerator) -> None:
        self.state = other.state


class OldGenerator(FakeGenerator):
    """A generator of a torch without graph-safe states: nothing that it offers ends the capture."""

    clone_state = None  # type: ignore[assignment]


class FakeGraph:
    def __init__(self) -> None:
        self.work: list[float] = []
        self.device: FakeDevice | None = None

    def replay(self) -> None:
        for cost_ms in self.work:
            self.device.run(cost_ms)


class FakeDevice:
    def __init__(self) -> None:
        self.now_ms = 0.0
        self.tick_ms = 0.0
        self.recorded: list[float] | None = None  # what is being captured
        self.invalidated = False
        self.poisoned_by: str | None = None  # the error of every later call
        self.launches = 0
        self.captures = 0
        self.pools_in_use: set[int] = set()
        self.generator: FakeGenerator = FakeGenerator(self)
        self._pools = 0

    def launch(
        self, cost_ms: float, refuse: str | None = None, poison: str | None = None, draws: bool = False
    ) -> None:
        """One kernel. `refuse`, `poison`: its error when captured; a poison stays for every later call."""
        self.launches += 1
        self.check()
        if self.recorded is None:
            if draws:
                self.generator.draw()
            self.run(cost_ms)
            return
        if refuse or poison:
            self.invalidated = True
            self.poisoned_by = poison
            raise RuntimeError(refuse or poison)
        self.recorded.append(cost_ms)

    def run(self, cost_ms: float) -> None:
        self.now_ms += cost_ms

    def check(self) -> None:
        if self.poisoned_by is not None:
            raise RuntimeError(self.poisoned_by)

    def read_clock(self) -> float:
        return self.now_ms if not self.tick_ms else self.now_ms // self.tick_ms * self.tick_ms

    def new_pool(self) -> int:
        self._pools += 1
        return self._pools

    def interface(self, graph_class: str | None, graph_pools: bool = True) -> SimpleNamespace:
        """A device interface whose graph class has the vendor's name for it (CUDAGraph, MUSAGraph)."""
        device = self

        class Event:
            def __init__(self, enable_timing: bool = False) -> None:
                self._at: float | None = None

            def record(self) -> None:
                self._at = device.read_clock()

            def elapsed_time(self, end: Event) -> float:
                return end._at - self._at

        @contextmanager
        def stream(_: Any) -> Iterator[None]:
            yield

        made = SimpleNamespace(
            Event=Event,
            Stream=object,
            stream=stream,
            synchronize=self.check,
            current_device=lambda: 0,
            default_generators=(self.generator,),
            is_current_stream_capturing=lambda: self.recorded is not None,
        )
        if graph_class is not None:
            setattr(made, graph_class, FakeGraph)
            made.graph = lambda graph, pool=None: _Capture(self, graph, pool or self.new_pool())
        if graph_pools and graph_class is not None:
            made.graph_pool_handle = self.new_pool
        return made


class _Capture:
    """torch.cuda.graph."""

    def __init__(self, device: FakeDevice, graph: FakeGraph, pool: int) -> None:
        self.device, self.graph, self.pool = device, graph, pool

    def __enter__(self) -> None:
        self.device.captures += 1
        self.device.recorded = []
        self.device.invalidated = False
        self.device.generator.state["capturing"] = True
        self.device.pools_in_use.add(self.pool)

    def __exit__(self, *_: Any) -> None:
        work, self.device.recorded = self.device.recorded, None
        if self.device.invalidated:
            raise RuntimeError(PREVIOUS_ERROR)
        self.device.generator.state["capturing"] = False
        self.device.pools_in_use.discard(self.pool)
        self.graph.work, self.graph.device = list(work or []), self.device
        if not work:
            warnings.warn("The CUDA Graph is empty. This usually means ...", UserWarning, stacklevel=2)


class FakeDriver:
    """What triton.testing.do_bench asks of the active driver."""

    def __init__(self, device: FakeDevice, interface: SimpleNamespace) -> None:
        self.device, self._interface = device, interface
        self.flushes = 0

    def get_device_interface(self) -> SimpleNamespace:
        return self._interface

    def get_empty_cache_for_benchmark(self) -> object:
        return object()

    def clear_cache(self, cache: object) -> None:
        self.flushes += 1


def kernel(device: FakeDevice, cost_ms: float, **traits: Any) -> Callable[[], None]:
    return lambda: device.launch(cost_ms, **traits)
