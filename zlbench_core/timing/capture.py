"""The capture timer: many launches in one graph, replayed between two events. The cache is not flushed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from zlbench_core.backends import graph_class
from zlbench_core.timing.direct import clear_gradients
from zlbench_core.timing.samples import CUDA_GRAPH, NoMeasurement, Samples, TimedRequest

ESTIMATE_CALLS = 5
REPLAYS = 10
CALLS_WHERE_ESTIMATE_IS_ZERO = 1000


class TuningInsideCapture(RuntimeError):
    """A tuner wants to time a config while a graph is captured; its synchronize would end the capture."""


def is_capturing(interface: ModuleType | Any) -> bool:
    asks = getattr(interface, "is_current_stream_capturing", None)
    return bool(asks and asks())


def capture_upstream(bench: Callable[..., Sequence[float]], request: TimedRequest) -> Samples:
    """Samples of `bench`, upstream's do_bench_cudagraph. NoMeasurement: a graph without a launch."""
    with empty_graph_is_an_error():
        values = bench(request.fn, rep=request.rep, grad_to_none=request.grad_to_none, return_mode="all")
    return Samples(CUDA_GRAPH, tuple(float(value) for value in values), flush_l2=False)


def capture_through(interface: ModuleType | Any, request: TimedRequest) -> Samples:
    """The same method through any device interface with a graph class (torch.musa and its like)."""
    with interface.stream(interface.Stream()):
        detach_gradients(request)
        count = _calls_in_graph(request.rep, estimate_ms(interface, request))
        with empty_graph_is_an_error():
            graph = captured_graph(interface, request, count)
        interface.synchronize()
        values = [_replay_ms(interface, graph) / count for _ in range(REPLAYS)]
    return Samples(CUDA_GRAPH, tuple(values), flush_l2=False)


def detach_gradients(request: TimedRequest) -> None:
    """Make leaves of the tensors whose gradients are cleared, as upstream does before a capture; calls once."""
    request.fn()
    for tensor in request.grad_to_none or ():
        tensor.detach_()
        tensor.requires_grad_(True)
        tensor.grad = None


def estimate_ms(interface: ModuleType | Any, request: TimedRequest) -> float:
    """Milliseconds of one direct call, the mean of a few: never less than the device needs for it."""

    def calls() -> None:
        for _ in range(ESTIMATE_CALLS):
            request.fn()

    return elapsed_ms(interface, calls) / ESTIMATE_CALLS


def _calls_in_graph(rep_ms: float, call_ms: float) -> int:
    return max(1, int(rep_ms / call_ms)) if call_ms > 0 else CALLS_WHERE_ESTIMATE_IS_ZERO


def captured_graph(interface: ModuleType | Any, request: TimedRequest, count: int) -> Any:
    """A graph of `count` calls, captured on the current stream of an interface that has graphs."""
    make_graph = graph_class(interface)
    assert make_graph is not None, "nobody captures where the interface has no graphs"
    graph = make_graph()
    with interface.graph(graph):
        for _ in range(count):
            clear_gradients(request)
            request.fn()
    return graph


def _replay_ms(interface: ModuleType | Any, graph: Any) -> float:
    return elapsed_ms(interface, graph.replay)


def elapsed_ms(interface: ModuleType | Any, work: Callable[[], Any]) -> float:
    """Milliseconds of `work` on the device, by two events; waits for it."""
    start, end = interface.Event(enable_timing=True), interface.Event(enable_timing=True)
    start.record()
    work()
    end.record()
    interface.synchronize()
    return start.elapsed_time(end)


@contextmanager
def empty_graph_is_an_error() -> Iterator[None]:
    """Turn torch's warning about an empty graph into NoMeasurement; other warnings are passed on.

    Replaying a graph of nothing takes time too: on an H200 it looks like a kernel of 0.011 ns.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    empty = [one for one in caught if "graph is empty" in str(one.message).lower()]
    for one in caught:
        if one not in empty:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    if empty:
        raise NoMeasurement("no measurement: nothing was captured, the graph is empty")
