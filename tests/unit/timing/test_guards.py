from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.timing.timing_fakes import BROKEN_RNG, FakeDevice, OldGenerator, kernel
from zlbench_core.timing.guards import RngGuard, pools_given_back


def refused_capture(device: FakeDevice, interface: Any) -> None:
    with pytest.raises(RuntimeError, match="previous error"), interface.graph(interface.CUDAGraph()):
        device.launch(1.0, refuse="CUDA error: operation not permitted when stream is capturing")


def test_a_refused_capture_breaks_the_generator_and_the_guard_mends_it(device: FakeDevice) -> None:
    interface = device.interface("CUDAGraph")
    device.generator.draw()
    guard = RngGuard(interface)
    refused_capture(device, interface)
    with pytest.raises(RuntimeError, match=BROKEN_RNG):
        device.generator.draw()
    assert guard.restore() is True
    assert device.generator.draw() == 8


def test_a_guard_restores_as_often_as_it_is_asked(device: FakeDevice) -> None:
    guard = RngGuard(device.interface("CUDAGraph"))
    guard.restore()
    first = device.generator.draw()
    guard.restore()
    assert device.generator.draw() == first


def test_a_generator_without_graph_support_is_set_back_by_its_plain_state(device: FakeDevice) -> None:
    device.generator = OldGenerator(device)
    guard = RngGuard(device.interface("CUDAGraph"))
    first = device.generator.draw()
    assert guard.restore() is True
    assert device.generator.draw() == first


def test_a_generator_that_cannot_be_set_is_said_to_be_broken(device: FakeDevice) -> None:
    def raising(_: Any) -> None:
        raise RuntimeError("CUDA error: device-side assert triggered")

    guard = RngGuard(device.interface("CUDAGraph"))
    device.generator.graphsafe_set_state = raising  # type: ignore[method-assign]
    assert guard.restore() is False


@pytest.mark.parametrize("interface", [SimpleNamespace(), SimpleNamespace(default_generators=())])
def test_an_interface_without_generators_needs_no_guard(interface: Any) -> None:
    assert RngGuard(interface).restore() is True


def test_the_pool_of_a_refused_capture_is_given_back_and_no_other(device: FakeDevice) -> None:
    interface = device.interface("CUDAGraph")
    original, given_back = interface.graph, []

    def give_back(pool: int) -> None:
        device.pools_in_use.remove(pool)
        given_back.append(pool)

    with pools_given_back(interface, give_back):
        with interface.graph(interface.CUDAGraph()):
            kernel(device, 1.0)()
        refused_capture(device, interface)
    assert len(given_back) == 1
    assert device.pools_in_use == set()
    assert interface.graph is original


def test_a_pool_is_given_back_when_the_error_leaves_the_block_too(device: FakeDevice) -> None:
    interface, given_back = device.interface("CUDAGraph"), []
    with (
        pytest.raises(RuntimeError, match="previous error"),
        pools_given_back(interface, given_back.append),
        interface.graph(interface.CUDAGraph()),
    ):
        device.launch(1.0, refuse="CUDA error: operation not permitted")
    assert len(given_back) == 1


def test_an_interface_without_graph_pools_is_left_alone(device: FakeDevice) -> None:
    interface = device.interface("MUSAGraph", graph_pools=False)
    original = interface.graph
    with pools_given_back(interface, pytest.fail):
        assert interface.graph is original


@pytest.mark.parametrize(
    "failure",
    [
        RuntimeError("CUDA error: device-side assert triggered"),
        TypeError("_cuda_endAllocateToPool(): incompatible function arguments"),
    ],
)
def test_a_give_back_that_fails_does_not_hide_the_error(device: FakeDevice, failure: Exception) -> None:
    def give_back(_: Any) -> None:
        raise failure

    interface = device.interface("CUDAGraph")
    with (
        pytest.raises(RuntimeError, match="previous error"),
        pools_given_back(interface, give_back),
        interface.graph(interface.CUDAGraph()),
    ):
        device.launch(1.0, refuse="CUDA error: operation not permitted")
