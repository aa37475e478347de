"""pytest plugin: every call of a benchmark's timer is timed by the timer that its row bears, and kept.

It replaces triton.testing.do_bench and do_bench_cudagraph (and a vendor's own timer) at configure time,
before benchmarks are collected. With ZL_OUT_DIR it writes samples.jsonl and conditions.jsonl and tells the
identity.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Generator
from functools import partial
from typing import Any

import pytest

from zlbench_core.backends import get_backend
from zlbench_core.backends.backend import DeviceBackend
from zlbench_core.backends.base import DeviceInfo
from zlbench_core.duet import announce
from zlbench_core.duet.client import Client
from zlbench_core.duet.session import DuetSession
from zlbench_core.plugins import cudagraph
from zlbench_core.records import run_env
from zlbench_core.records.identity import identity_path, update_identity
from zlbench_core.records.run_env import TIMERS, RunEnv
from zlbench_core.timing import entries
from zlbench_core.timing.health import round_trip
from zlbench_core.timing.journal import Journal
from zlbench_core.timing.patches import Patches
from zlbench_core.timing.session import ProcessPoisoned, Settings, Timers, TimingSession

CURRENT_OP = "FLAGGEMS_PERF_CURRENT_OP"


class TimingPlugin:
    def __init__(self, env: RunEnv, client: Client | None = None) -> None:
        """`client`: the connection to the partner of a duet, where there is one."""
        self.env, self.client = env, client
        self.backend = get_backend(env.backend)
        self.patches = Patches()
        self.session = self._session()

    def _session(self) -> TimingSession:
        import triton.testing

        settings = Settings(self.env.timer, cudagraph.direct_repeat(), os.environ.get(CURRENT_OP, ""))
        timers = Timers(
            direct=cudagraph.run_direct,
            graph=triton.testing.do_bench_cudagraph,
            interface=_device_interface,
            known_answer=partial(round_trip, self.backend.torch_device),
            conditions=_conditions(self.backend),
            flush=_Flusher(),
        )
        journal = Journal(self.env.out_dir)
        if self.client is None:
            return TimingSession(self.backend, settings, timers, journal)
        session = DuetSession(self.backend, settings, timers, journal, client=self.client)
        announce.listen(session.row_failed)
        return session

    def install(self) -> None:
        import triton.testing

        measure, session = self.env.measure, self.session
        direct = partial(entries.timed_do_bench, session) if measure else entries.compile_only
        graph = partial(entries.timed_do_bench_cudagraph, session) if measure else entries.compile_only
        own = partial(entries.timed_own, session) if measure else entries.compile_only
        cudagraph._ORIGINAL_DO_BENCH = self.patches.replace(triton.testing, "do_bench", direct)
        self.patches.replace(triton.testing, "do_bench_cudagraph", graph)
        if self.backend.own_timer is not None:
            module, name = self.backend.own_timer
            self.patches.replace(importlib.import_module(module), name, own)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.session.node = item.nodeid
        self.session.op = getattr(item, "originalname", item.name).removeprefix("test_")
        try:
            self.session.refuse_if_poisoned()
        except ProcessPoisoned as poisoned:
            pytest.skip(str(poisoned))

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.when == "teardown" and report.failed and self._is_aftermath(call):
            # The device's error comes up again wherever a fixture tidies up: it has been reported once.
            report.outcome = "skipped"
            report.longrepr = (*item.location[:1], item.location[1] or 0, str(self.session.poison))
        return report

    def _is_aftermath(self, call: pytest.CallInfo[None]) -> bool:
        error = call.excinfo.value if call.excinfo else None
        return (
            self.session.poison is not None
            and isinstance(error, Exception)
            and self.backend.classify_error(error) != "failed"
        )

    def pytest_sessionfinish(self) -> None:
        self.session.journal.close()
        if self.env.out_dir is None or not identity_path(self.env.out_dir).exists():
            return
        fields = self.session.identity_fields()
        update_identity(self.env.out_dir, **(fields if self.env.measure else fields | {"timer": "none"}))

    def pytest_unconfigure(self) -> None:
        self.patches.undo()
        cudagraph._ORIGINAL_DO_BENCH = None


def _device_interface() -> Any:
    from triton.runtime import driver

    return driver.active.get_device_interface()


class _Flusher:
    """Empties the device's cache as do_bench does, with one buffer for the whole session."""

    def __init__(self) -> None:
        self._cache: Any = None

    def __call__(self) -> None:
        from triton.runtime import driver

        if self._cache is None:
            self._cache = driver.active.get_empty_cache_for_benchmark()
        driver.active.clear_cache(self._cache)


def _conditions(backend: DeviceBackend) -> Any:
    """How to ask for the conditions of the device that the runner gave to this process."""
    index, uuid = os.environ.get(run_env.DEVICE, ""), os.environ.get(run_env.DEVICE_UUID) or None
    if uuid is None and not index.isdecimal():
        return dict
    return partial(backend.conditions, DeviceInfo(int(index) if index.isdecimal() else 0, uuid))


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    env = RunEnv.read()
    if env.timer not in TIMERS:
        raise pytest.UsageError(f"{run_env.TIMER}={env.timer}: {', '.join(TIMERS)} are allowed")
    duet = config.pluginmanager.get_plugin("zlbench-duet")
    plugin = TimingPlugin(env, duet.client if duet is not None else None)
    plugin.install()
    config.pluginmanager.register(plugin, "zlbench-timing")
