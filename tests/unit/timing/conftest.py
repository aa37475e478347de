from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.timing.timing_fakes import FakeDevice, FakeDriver
from zlbench_core.backends import get_backend
from zlbench_core.plugins import cudagraph
from zlbench_core.timing.journal import Journal
from zlbench_core.timing.session import Settings, Timers, TimingSession

GRAPH_CLASS = {"cuda": "CUDAGraph", "rocm": "CUDAGraph", "musa": "MUSAGraph"}


@pytest.fixture
def device() -> FakeDevice:
    return FakeDevice()


@pytest.fixture
def activate(device: FakeDevice) -> Iterator[Callable[[str], FakeDriver]]:
    """Make the fake device Triton's active one, with the interface that a backend's torch offers."""
    from triton.runtime import driver

    before = driver._active

    def active(backend: str) -> FakeDriver:
        fake = FakeDriver(device, device.interface(GRAPH_CLASS.get(backend)))
        driver.set_active(fake)
        return fake

    yield active
    driver._active = before


@pytest.fixture
def torch_cuda(device: FakeDevice, monkeypatch: pytest.MonkeyPatch) -> Any:
    """torch.cuda with the fake device behind it, so that upstream's own graph timer runs unchanged."""
    import torch

    for name, value in vars(device.interface("CUDAGraph")).items():
        monkeypatch.setattr(torch.cuda, name, value)
    return torch.cuda


@pytest.fixture
def session(
    device: FakeDevice, activate: Callable[[str], FakeDriver], tmp_path: Path, request: pytest.FixtureRequest
) -> Callable[..., TimingSession]:
    """A timing session of a backend over the fake device; `known_answer` is the device's health."""
    import triton.testing

    def make(backend: str = "musa", known_answer: Callable[[], bool] = lambda: True, **settings: Any):
        fake = activate(backend)
        cuda = backend in ("cuda", "rocm")
        interface = request.getfixturevalue("torch_cuda") if cuda else fake.get_device_interface()
        timers = Timers(
            direct=cudagraph.run_direct,
            graph=triton.testing.do_bench_cudagraph,
            interface=lambda: interface,
            known_answer=known_answer,
        )
        made = TimingSession(get_backend(backend), Settings(**settings), timers, Journal(tmp_path))
        made.node = "test_x.py::test_x"
        return made

    return make


@pytest.fixture
def lines(tmp_path: Path) -> Callable[[], list[dict[str, Any]]]:
    return lambda: [json.loads(line) for line in (tmp_path / "samples.jsonl").read_text().splitlines()]
