from __future__ import annotations

import os

import pytest
from triton.runtime.autotuner import Autotuner

from tests.unit.tuning.autotune_fakes import (
    AsyncJit,
    FakeJit,
    LibraryEntry,
    LibraryTuner,
    config,
    launch,
    make_tuner,
    scale,
)
from zlbench_core.plugins.autotune_record import make_mode
from zlbench_core.records.run_env import RunEnv
from zlbench_core.tuning.compile_ahead import Settings
from zlbench_core.tuning.compile_only import CompileOnly

TIMES = {16: 0.8, 32: 0.30, 64: 0.10}


@pytest.fixture(params=[1, 3])
def compile_only(patches, request):
    mode = CompileOnly(Settings(request.param, "fork", True))
    mode.patch(patches)
    return mode


@pytest.mark.parametrize("cls", [Autotuner, LibraryTuner])
def test_every_config_is_compiled_none_is_timed_and_the_first_is_launched(compile_only, tmp_path, cls):
    jit = AsyncJit(scale, tmp_path)
    tuner = make_tuner(TIMES, cls=cls, jit=jit)
    launch(tuner, None, 64)
    assert sorted(jit.ready) == sorted(TIMES)
    assert (tuner.do_bench.asked, [meta["BLOCK"] for meta in jit.launches]) == ([], [16])
    assert compile_only.finish(complete=True) == {"compiled": {"kernels": 1, "configs": 3, "failed": 0}}


def test_the_compilations_happen_in_this_process(compile_only, tmp_path):
    launch(make_tuner(TIMES, jit=AsyncJit(scale, tmp_path)), None, 64)
    assert {path.read_text() for path in tmp_path.iterdir()} == {str(os.getpid())}


def test_a_config_that_does_not_compile_is_told_and_the_next_is_launched(compile_only, tmp_path, capsys):
    jit = AsyncJit(scale, tmp_path, broken=frozenset({16}))
    launch(make_tuner(TIMES, jit=jit), None, 64)
    assert [meta["BLOCK"] for meta in jit.launches] == [32]
    assert compile_only.finish(complete=True)["compiled"]["failed"] == 1
    told = capsys.readouterr().out
    assert told.startswith("AUTOTUNE_COMPILE_FAILED config=(BLOCK: 16, num_warps: 4")
    assert told.count("\n") == 1


def test_a_single_config_and_its_hook(compile_only):
    seen = []
    jit = FakeJit(scale)
    tuner = make_tuner(
        {16: 0.1}, jit=jit, configs=[config(16, pre_hook=lambda nargs: seen.append(nargs["n"]))]
    )
    launch(LibraryEntry(tuner), None, 64)
    assert jit.compiled
    assert len(jit.launches) == 1
    assert set(seen) == {64}


def test_the_plugin_compiles_only_when_nothing_is_to_be_measured():
    assert isinstance(make_mode(RunEnv.read({"ZL_MEASURE": "0"})), CompileOnly)
    assert not isinstance(make_mode(RunEnv.read({})), CompileOnly)
