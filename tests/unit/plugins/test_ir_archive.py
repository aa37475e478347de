from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.unit.ir.ir_helpers import HERE, clean_env, run_python
from zlbench_core.ir.archive import read_archive
from zlbench_core.judge.ir.compare import compare_archives
from zlbench_core.records.identity import init_identity, load_identity

SCENARIOS = {
    "compile_only": {"ZL_MEASURE": "0"},
    "replay": {"ZL_AUTOTUNE_MODE": "replay", "REPLAY_FROM": "pins"},
    "record": {"ZL_AUTOTUNE_MODE": "record"},
    "bare": {"ZL_OUT_DIR": ""},
    "skipped": {"BENCH_SKIP": "1"},
    "failed": {"BENCH_FAIL": "1"},
    "interrupted": {"BENCH_INTERRUPT": "1"},
}


def bench(out: Path, **env: str) -> subprocess.CompletedProcess[str]:
    init_identity(out, op="mm")
    places = {"ZL_OUT_DIR": str(out), "TRITON_CACHE_DIR": str(out.parent / "cache")}
    named = {**places, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **env}
    plugins = ["-p", "zlbench_core.plugins.ir_archive", "-p", "no:cacheprovider"]
    options = ["-q", "--noconftest", "--rootdir", HERE, *plugins]
    return run_python("-m", "pytest", HERE / "bench_compiles.py", *options, env=clean_env(**named))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, int]]:
    """The folder of the runs, and how each ended. The first fills the cache that the others find."""
    root = tmp_path_factory.mktemp("plugin")
    ended = {"cold": bench(root / "cold").returncode}
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda name: bench(root / name, **SCENARIOS[name]), SCENARIOS)
        return root, ended | {name: run.returncode for name, run in zip(SCENARIOS, done, strict=True)}


Runs = tuple[Path, dict[str, int]]


def test_kernels_of_every_thread_are_archived_once(runs: Runs) -> None:
    root, ended = runs
    archive = read_archive(root / "cold")
    assert ended["cold"] == 0
    assert [variant.kernel for variant in archive.variants] == ["mm", "scale"]
    assert all(variant.stages == ("ttir", "ttgir", "llir", "ptx", "cubin") for variant in archive.variants)
    told = load_identity(root / "cold")["ir"]
    assert told == {"variants": 2, "stages": ["ttir", "ttgir", "llir", "ptx", "cubin"]}


@pytest.mark.parametrize("name", ["compile_only", "replay"])
def test_a_compile_only_run_and_a_replay_on_a_warm_cache_give_the_same_archive(runs: Runs, name: str) -> None:
    root, _ = runs
    assert read_archive(root / name).digest == read_archive(root / "cold").digest


@pytest.mark.parametrize("name", ["record", "bare"])
def test_a_recording_run_and_a_bare_one_write_nothing(runs: Runs, name: str) -> None:
    root, ended = runs
    assert ended[name] == 0
    assert [path.name for path in (root / name).iterdir()] == ["run_identity.json"]
    assert "ir" not in load_identity(root / name)


def test_a_run_that_compiled_nothing_has_an_empty_archive_which_is_unknown(runs: Runs) -> None:
    root, ended = runs
    result = compare_archives([root / "cold"], [root / "skipped"])
    assert ended["skipped"] == 0
    assert (result.verdict, result.reason) == ("unknown", "nothing was captured on side b")


def test_a_failed_test_leaves_an_archive_and_an_interrupted_session_a_failed_one(runs: Runs) -> None:
    root, ended = runs
    assert (ended["failed"], ended["interrupted"]) == (1, 2)
    assert len(read_archive(root / "failed").variants) == 2
    result = compare_archives([root / "cold"], [root / "interrupted"])
    assert result.verdict == "unknown"
    assert "exit code 2" in result.reason
