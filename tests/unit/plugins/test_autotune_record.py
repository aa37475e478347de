from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests import ROOT
from tests.unit.tuning.autotune_fakes import launch, make_tuner
from zlbench_core.errors import PinsError, UnknownBackendError
from zlbench_core.pins.pins import load_pins, publish_pins
from zlbench_core.pins.records import read_records
from zlbench_core.plugins.autotune_record import AutotunePlugin, _replay_backend_ok, make_mode
from zlbench_core.records.identity import init_identity, load_identity
from zlbench_core.records.run_env import RunEnv

TIMES = {32: 0.30, 64: 0.10}
ALIASES = {"": "cuda", "nvidia": "cuda", "cuda": "cuda", "musa": "musa", "mt": "musa"}


@pytest.fixture(autouse=True)
def backends(monkeypatch):
    def normalize(name: str) -> str:
        if name not in ALIASES:
            raise UnknownBackendError(f"unknown backend {name!r}")
        return ALIASES[name]

    monkeypatch.setattr("zlbench_core.backends.normalize_backend_name", normalize, raising=False)


def run_plugin(environ, run, exitstatus=0):
    env = RunEnv.read(environ)
    plugin = AutotunePlugin(env, make_mode(env))
    plugin.pytest_collection_finish()
    plugin.pytest_runtest_setup()
    try:
        run()
        plugin.pytest_sessionfinish(exitstatus)
    finally:
        plugin.pytest_unconfigure()
    return plugin


def recorded(folder, exitstatus=0):
    init_identity(folder)
    environ = {"ZL_OUT_DIR": str(folder), "ZL_AUTOTUNE_MODE": "record", "ZL_BACKEND": "cuda"}
    run_plugin(environ, lambda: launch(make_tuner(TIMES), None, 64), exitstatus)
    return read_records(folder)


def test_record_writes_entries_and_the_mode_that_was_really_used(tmp_path):
    records = recorded(tmp_path)
    assert (records.status, records.backend, len(records.entries)) == ("complete", "cuda", 1)
    assert load_identity(tmp_path)["autotune_mode"] == "record"


def test_a_failed_session_leaves_its_records_partial(tmp_path):
    assert recorded(tmp_path, exitstatus=1).status == "partial"


def test_a_process_that_dies_before_its_first_key_leaves_partial_records(tmp_path):
    make_mode(RunEnv.read({"ZL_OUT_DIR": str(tmp_path), "ZL_AUTOTUNE_MODE": "record"}))
    assert read_records(tmp_path).status == "partial"


def test_replay_puts_its_account_into_the_identity(tmp_path):
    entries = recorded(tmp_path / "record").entries
    publish_pins(tmp_path / "pins", entries, {"backend": "cuda"})
    run = tmp_path / "run"
    init_identity(run)
    environ = {"ZL_OUT_DIR": str(run), "REPLAY_FROM": str(tmp_path / "pins")}
    run_plugin(environ, lambda: launch(make_tuner(TIMES), None, 64))
    identity = load_identity(run)
    assert identity["autotune_mode"] == "replay"
    assert identity["replay"] == {
        "pins_digest": load_pins(tmp_path / "pins").digest,
        "recorded": {"backend": "cuda"},
        "keys_pinned": 1,
        "hits": 1,
        "launches": 1,
        "foreign": 0,
        "fallbacks": {},
        "used": [{"kernel": "scale", "key": [64], "config": entries[0].winner, "launches": 1}],
        "unpinned": [],
        "source_changed": [],
        "unused": 0,
    }


def test_off_leaves_the_tuners_alone(tmp_path):
    from triton.runtime.autotuner import Autotuner

    original = Autotuner.run
    init_identity(tmp_path)
    run_plugin({"ZL_OUT_DIR": str(tmp_path)}, lambda: None)
    assert Autotuner.run is original
    assert load_identity(tmp_path)["autotune_mode"] == "off"


def test_without_a_folder_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plugin = run_plugin({"ZL_AUTOTUNE_MODE": "record"}, lambda: launch(make_tuner(TIMES), None, 64))
    assert len(plugin.mode.recorder.entries) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("recorded_on", "here", "ok"),
    [
        ("cuda", "cuda", True),
        ("nvidia", "", True),
        ("mt", "musa", True),
        ("musa", "cuda", False),
        ("x", "cuda", False),
    ],
)
def test_pins_belong_to_their_backend(tmp_path, monkeypatch, recorded_on, here, ok):
    publish_pins(tmp_path / "pins", [], {"backend": recorded_on})
    monkeypatch.setenv("ZL_BACKEND", here)
    assert _replay_backend_ok(tmp_path / "pins") is ok


def test_pins_without_a_meta_are_taken(tmp_path):
    publish_pins(tmp_path, [], {"backend": "musa"})
    (tmp_path / "meta.json").unlink()
    assert _replay_backend_ok(tmp_path)
    assert make_mode(RunEnv.read({"REPLAY_FROM": str(tmp_path)})).name == "replay"


def test_pins_of_another_backend_are_refused(tmp_path):
    publish_pins(tmp_path, [], {"backend": "musa"})
    with pytest.raises(PinsError, match="is of backend 'musa'"):
        make_mode(RunEnv.read({"REPLAY_FROM": str(tmp_path), "ZL_BACKEND": "cuda"}))


def test_a_replay_without_pins_is_refused():
    with pytest.raises(PinsError, match="REPLAY_FROM"):
        make_mode(RunEnv.read({"ZL_AUTOTUNE_MODE": "replay"}))


@pytest.mark.parametrize(
    "environ", [{"ZL_AUTOTUNE_MODE": "rec"}, {"ZL_AUTOTUNE_MODE": "record", "ZL_MEASURE": "0"}]
)
def test_what_cannot_be_done_is_a_usage_error(environ):
    with pytest.raises(pytest.UsageError):
        make_mode(RunEnv.read(environ))


def test_a_bare_pytest_run_with_the_plugin_records(tmp_path):
    here = ROOT / "tests" / "unit" / "tuning"
    lines = [
        "from autotune_fakes import launch, make_tuner",
        "def test_op(): launch(make_tuner({1: 0.2, 2: 0.1}), None, 8)",
    ]
    (tmp_path / "test_op.py").write_text("\n".join(lines))
    init_identity(tmp_path / "out")
    environ = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(here), str(here.parents[2])]),
        "ZL_AUTOTUNE_MODE": "record",
        "ZL_OUT_DIR": str(tmp_path / "out"),
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "zlbench_core.plugins.autotune_record",
        "test_op.py",
    ]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    value = json.loads((tmp_path / "out" / "records.json").read_text())
    assert (value["status"], value["entries"][0]["winner"]["kwargs"]) == ("complete", {"BLOCK": 2})


def test_pins_that_cannot_be_used_end_the_run_in_one_line(tmp_path):
    environ = {
        **os.environ,
        "REPLAY_FROM": str(tmp_path / "none"),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "zlbench_core.plugins.autotune_record"]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert done.stderr.strip().splitlines() == [f"ERROR: no pins: {tmp_path}/none is not a directory"]


def test_tuners_that_are_left_alone_are_counted(tmp_path):
    init_identity(tmp_path)
    tuner = make_tuner(TIMES)

    def twice() -> None:
        for _ in range(2):
            launch(tuner, None, 64)

    run_plugin({"ZL_OUT_DIR": str(tmp_path), "ZL_AUTOTUNE_MODE": "off", "ZL_BACKEND": "cuda"}, twice)
    identity = load_identity(tmp_path)
    assert identity["autotune_mode"] == "off"
    assert identity["replay"] == {"tuned_keys": 1}
