from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import triton

import zlbench_core
from zlbench_core.plugins.device_setup import collect_variables
from zlbench_core.records import process_environment as _environment
from zlbench_core.records.identity import init_identity, load_identity

BENCHMARK = """
import torch, triton
import triton.language as tl

@triton.jit
def kernel(out_ptr):
    tl.store(out_ptr, 1)

def test_one():
    out = torch.zeros(1, dtype=torch.int32)
    assert "amdgcn" in kernel[(1,)](out).asm
    assert out.item() == EXPECTED
    torch.backends.cudnn.allow_tf32 = False
    torch.set_num_threads(1)
"""


def run_benchmark(folder: Path, expected: int = 1, **variables: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_one.py").write_text(BENCHMARK.replace("EXPECTED", str(expected)), encoding="utf-8")
    own = {
        "PYTHONPATH": str(Path(zlbench_core.__file__).parent.parent),
        "TRITON_CACHE_DIR": str(folder / "cache"),
        "ZL_BACKEND": "interpreter",
        "ZL_TARGET": "hip:gfx942",
    }
    command = [sys.executable, "-m", "pytest", "test_one.py", "-p", "zlbench_core.plugins.device_setup"]
    command += ["-c", os.devnull, "--rootdir", str(folder), "-p", "no:cacheprovider"]
    env = {**os.environ, **own, **variables}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_identity_holds_what_the_process_really_used(tmp_path: Path) -> None:
    init_identity(tmp_path, backend="asked", environment={"cpu_threads": 9})
    done = run_benchmark(tmp_path, ZL_OUT_DIR=str(tmp_path), TRITON_F32_DEFAULT="ieee", ZL_TIMER="direct")
    assert done.returncode == 0, done.stdout + done.stderr
    identity = load_identity(tmp_path)
    assert (identity["backend"], identity["device"]) == ("cpu", "cpu-interpreter/hip:gfx942")
    assert {"device_uuid", "driver"} <= identity.keys()
    environment = identity["environment"]
    assert environment["python"] == platform.python_version()
    assert environment["executable"] == sys.executable
    assert (environment["torch"], environment["triton"]) == (torch.__version__, triton.__version__)
    assert environment["triton_build"] == _environment.compiler_build()
    assert environment["pytest"] == pytest.__version__
    assert environment["cpu_threads"] == 1
    assert environment["precision"] == {
        "matmul_allow_tf32": False,
        "cudnn_allow_tf32": False,
        "float32_matmul_precision": "highest",
    }
    assert environment["variables"]["TRITON_F32_DEFAULT"] == "ieee"
    assert not {"TRITON_CACHE_DIR", "ZL_TIMER"} & environment["variables"].keys()


def test_bare_run_writes_nothing_and_without_measuring_only_compiles(tmp_path: Path) -> None:
    done = run_benchmark(tmp_path, expected=0, ZL_MEASURE="0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list(tmp_path.glob("*.json"))


def test_target_that_is_not_known_is_a_usage_error(tmp_path: Path) -> None:
    done = run_benchmark(tmp_path, ZL_TARGET="hip:gfx1")
    assert done.returncode == 4
    assert "target 'hip:gfx1' of the cpu backend is not known" in done.stderr
    assert "Traceback" not in done.stderr


def test_variables_are_those_that_switch_a_compiler_or_a_library() -> None:
    kept = {
        "TRITON_F32_DEFAULT": "ieee",
        "DISABLE_LLVM_OPT": "1",
        "DISABLE_PTXAS_OPT": "1",
        "PTXAS_OPTIONS": "-O1",
        "LLVM_EXTRACT_DI_LOCAL_VARIABLES": "1",
        "AMDGCN_USE_BUFFER_OPS": "0",
        "MTHREADS_RLC": "1",
        "FLAGTREE_MTHREADS_RLC_ENHANCE": "1",
        "FLAGGEMS_MODE": "x",
        "USE_FLAGTUNE": "1",
        "USE_FLAGTUNE_COST_MODEL": "0",
        "FLAGTUNE_INCLUDE": "mm",
        "CUDA_LAUNCH_BLOCKING": "1",
        "PYTORCH_CUDA_ALLOC_CONF": "x",
    }
    dropped = {
        "PATH": "/bin",
        "HOME": "/root",
        "ZL_BACKEND": "cpu",
        "TRITON_CACHE_DIR": "/a",
        "FLAGGEMS_CACHE_DIR": "/b",
        "FLAGGEMS_DB_URL": "postgresql://u:p@h",
        "FLAGGEMS_PERF_CURRENT_OP": "mm",
        "CUDA_VISIBLE_DEVICES": "3",
        "AWS_SECRET_ACCESS_KEY": "x",
    }
    assert collect_variables({**kept, **dropped}) == kept


@pytest.mark.parametrize(
    "name", ["TRITON_REDIS_PASSWORD", "FLAGGEMS_TOKEN", "TORCH_Secret", "PYTORCH_API_KEY"]
)
def test_secret_is_kept_as_a_digest_only(name: str) -> None:
    expected = "sha256:" + hashlib.sha256(b"hunter2").hexdigest()
    assert collect_variables({name: "hunter2"}) == {name: expected}


def test_precision_that_cannot_be_read_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> str:
        raise RuntimeError("mix of the legacy and new APIs")

    monkeypatch.setattr(torch, "get_float32_matmul_precision", refuse)
    assert _environment.precision()["float32_matmul_precision"] == "unknown"
    assert _environment.precision()["cudnn_allow_tf32"] is torch.backends.cudnn.allow_tf32


def test_build_of_a_triton_without_a_key_is_not_invented(monkeypatch: pytest.MonkeyPatch) -> None:
    known = _environment.compiler_build()
    assert known is not None
    assert len(known) == 16
    for module in ("triton.runtime.cache", "triton.compiler.compiler"):
        monkeypatch.delattr(f"{module}.triton_key", raising=False)
    assert _environment.compiler_build() is None
