"""pytest plugin: record what the tuners choose, or replay what was recorded.

It also splits a benchmark's items over shards while recording, and compiles every config of every tuner when
nothing is to be measured.
"""

from __future__ import annotations

from typing import Any, Protocol

import pytest

from zlbench_core.errors import ConfigError, PinsError
from zlbench_core.pins.pins import Pins, check_backend, load_pins
from zlbench_core.plugins.door import replay_backend_ok as _replay_backend_ok  # noqa: F401 (for zl_bench)
from zlbench_core.records.identity import identity_path, update_identity
from zlbench_core.records.run_env import AUTOTUNE_MODES, REPLAY_FROM, RunEnv
from zlbench_core.tuning.compile_ahead import Settings
from zlbench_core.tuning.compile_only import CompileOnly
from zlbench_core.tuning.record_mode import RecordMode
from zlbench_core.tuning.recorder import Recorder
from zlbench_core.tuning.replay_mode import ReplayMode
from zlbench_core.tuning.tuners import Patches, tuner_classes


class Mode(Protocol):
    name: str

    def patch(self, patches: Patches) -> None: ...

    def finish(self, *, complete: bool) -> dict[str, Any]:
        """End the run and return the identity's fields."""


class Off:
    """The tuners are left alone, and counted: two sides that tuned themselves are record against record."""

    name = "off"

    def __init__(self) -> None:
        self.tuned = 0

    def patch(self, patches: Patches) -> None:
        for cls in tuner_classes():
            patches.wrap(cls, "prune_configs", self._wrap_prune)

    def _wrap_prune(self, original: Any) -> Any:
        """A tuner prunes its configs when it is about to time them for a new key, and only then."""

        def prune_configs(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            self.tuned += 1
            return original(tuner, *args, **kwargs)

        return prune_configs

    def finish(self, *, complete: bool) -> dict[str, Any]:
        return {"replay": {"tuned_keys": self.tuned}}


def make_mode(env: RunEnv) -> Mode:
    """What this process was asked for. Raises PinsError when the pins cannot be used here."""
    if env.autotune_mode not in AUTOTUNE_MODES:
        allowed = ", ".join(AUTOTUNE_MODES)
        raise pytest.UsageError(f"ZL_AUTOTUNE_MODE is {env.autotune_mode!r}; one of {allowed} is expected")
    if env.autotune_mode == "replay":
        return ReplayMode(_pins_for_replay(env))
    if env.autotune_mode == "record":
        if not env.measure:
            raise pytest.UsageError("ZL_AUTOTUNE_MODE=record needs timing; ZL_MEASURE=0 forbids it")
        recorder = Recorder(env.out_dir, env.backend)
        recorder.write()  # from now on, a process that dies leaves "partial" behind
        return RecordMode(recorder, env.shard, claims=env.claims)
    return Off() if env.measure else CompileOnly(Settings.read())


def _pins_for_replay(env: RunEnv) -> Pins:
    if env.replay_from is None:
        raise PinsError(f"ZL_AUTOTUNE_MODE=replay needs {REPLAY_FROM}, a pins folder")
    pins = load_pins(env.replay_from, require_meta=False)
    check_backend(env.replay_from, pins.meta, env.backend)
    return pins


class AutotunePlugin:
    def __init__(self, env: RunEnv, mode: Mode) -> None:
        self.env = env
        self.mode = mode
        self.patches = Patches()

    def pytest_collection_finish(self) -> None:
        self.mode.patch(self.patches)

    def pytest_runtest_setup(self) -> None:
        # A test's fixtures may have imported the library whose tuners these are.
        self.mode.patch(self.patches)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        fields = self.mode.finish(complete=int(exitstatus) == 0)
        if self.env.out_dir is not None and identity_path(self.env.out_dir).exists():
            update_identity(self.env.out_dir, autotune_mode=self.mode.name, **fields)

    def pytest_unconfigure(self) -> None:
        self.patches.undo()


def pytest_configure(config: pytest.Config) -> None:
    env = RunEnv.read()
    try:
        mode = make_mode(env)
    except (PinsError, ConfigError) as error:
        raise pytest.UsageError(str(error)) from None
    config.pluginmanager.register(AutotunePlugin(env, mode), "zlbench-autotune")
