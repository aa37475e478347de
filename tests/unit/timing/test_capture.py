from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.timing.timing_fakes import FakeDevice, kernel
from zlbench_core.backends import graph_class
from zlbench_core.timing.capture import (
    capture_through,
    capture_upstream,
    empty_graph_is_an_error,
    is_capturing,
)
from zlbench_core.timing.samples import NoMeasurement, TimedRequest


class Graph:
    pass


@pytest.mark.parametrize("name", ["CUDAGraph", "MUSAGraph"])
def test_the_graph_class_is_the_interfaces_own(name: str) -> None:
    assert graph_class(SimpleNamespace(**{name: Graph})) is Graph


def test_an_interface_without_graphs_has_nograph_class() -> None:
    assert graph_class(SimpleNamespace(XPUGraph=Graph)) is None


def test_an_interface_that_cannot_tell_is_not_capturing() -> None:
    assert is_capturing(SimpleNamespace()) is False
    assert is_capturing(SimpleNamespace(is_current_stream_capturing=lambda: True)) is True


def test_capture_through_musa_counts_every_launch_of_the_graph(device: FakeDevice) -> None:
    samples = capture_through(device.interface("MUSAGraph"), TimedRequest(kernel(device, 0.01), rep=2))
    assert samples.values_ms == pytest.approx((0.01,) * 10)
    assert (samples.timer, samples.flush_l2, samples.batch) == ("cuda_graph", False, 1)
    assert device.launches == 1 + 5 + 200


def test_a_launch_below_the_tick_is_captured_a_thousand_times(device: FakeDevice) -> None:
    device.tick_ms = 0.001
    samples = capture_through(device.interface("MUSAGraph"), TimedRequest(kernel(device, 0.0001), rep=2))
    assert samples.values_ms == pytest.approx((0.0001,) * 10, rel=0.02)


def test_upstreams_own_graph_timer_runs_unchanged(device: FakeDevice, torch_cuda: Any) -> None:
    import triton.testing

    request = TimedRequest(kernel(device, 0.01), rep=2)
    samples = capture_upstream(triton.testing.do_bench_cudagraph, request)
    own = capture_through(device.interface("CUDAGraph"), request)
    assert samples.values_ms == pytest.approx(own.values_ms)
    assert samples.values_ms == pytest.approx((0.01,) * 10)


def test_gradients_are_detached_before_and_cleared_inside_the_graph(device: FakeDevice) -> None:
    class Tensor:
        grad: Any = "old"
        detached = required = False

        def detach_(self) -> None:
            self.detached = True

        def requires_grad_(self, value: bool) -> None:
            self.required = value

    tensor, seen = Tensor(), []

    def backward() -> None:
        if device.recorded is not None:
            seen.append(tensor.grad)
        tensor.grad = "new"
        device.launch(1.0)

    capture_through(device.interface("MUSAGraph"), TimedRequest(backward, rep=3, grad_to_none=[tensor]))
    assert (tensor.detached, tensor.required, set(seen)) == (True, True, {None})


def test_a_graph_of_nothing_is_no_measurement_on_every_capture_path(
    device: FakeDevice, torch_cuda: Any
) -> None:
    import triton.testing

    request = TimedRequest(lambda: None)
    with pytest.raises(NoMeasurement, match="nothing was captured"):
        capture_upstream(triton.testing.do_bench_cudagraph, request)
    with pytest.raises(NoMeasurement, match="nothing was captured"):
        capture_through(device.interface("MUSAGraph"), request)


def test_other_warnings_of_a_capture_are_passed_on() -> None:
    with pytest.warns(DeprecationWarning, match="old"), empty_graph_is_an_error():
        warnings.warn("old", DeprecationWarning, stacklevel=1)
