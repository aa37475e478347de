from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from triton.backends.compiler import GPUTarget

import zlbench_core
from zlbench_core.plugins.mm_cluster_fix import max_ctas
from zlbench_core.records.identity import init_identity, load_identity

BENCHMARK = """
import pytest, torch, triton
import triton.language as tl

def config(value, ctas):
    return triton.Config({"VALUE": value}, num_ctas=ctas)

@triton.autotune([config(1, 1), config(2, 2), config(3, 4)], key=["count"])
@triton.jit
def mixed_kernel(out_ptr, count, VALUE: tl.constexpr):
    tl.store(out_ptr, VALUE)

@triton.autotune([config(5, 1), config(6, 1)], key=["count"])
@triton.jit
def plain_kernel(out_ptr, count, VALUE: tl.constexpr):
    tl.store(out_ptr, VALUE)

@triton.autotune([config(8, 2), config(9, 2)], key=["count"])
@triton.jit
def hopeless_kernel(out_ptr, count, VALUE: tl.constexpr):
    tl.store(out_ptr, VALUE)

def test_configs():
    out = torch.zeros(1, dtype=torch.int32)
    for count in (1, 2):
        mixed_kernel[(1,)](out, count)
        assert out.item() == 1
        assert len(mixed_kernel.prune_configs({})) == 1
    plain_kernel[(1,)](out, 1)
    assert len(plain_kernel.prune_configs({})) == 2
    assert len(hopeless_kernel.prune_configs({})) == 2
"""


@pytest.mark.parametrize(
    ("target", "limit"),
    [
        (GPUTarget("cuda", 80, 32), 1),
        (GPUTarget("cuda", 89, 32), 1),
        (GPUTarget("cuda", 90, 32), 8),
        (GPUTarget("cuda", 120, 32), 8),
        (GPUTarget("hip", "gfx942", 64), 1),
        (GPUTarget("musa", 31, 32), 1),
    ],
)
def test_limit_is_what_the_target_can_launch(target: GPUTarget, limit: int) -> None:
    assert max_ctas(target) == limit


def test_configs_that_cannot_launch_are_dropped_and_said(tmp_path: Path) -> None:
    (tmp_path / "test_configs.py").write_text(BENCHMARK, encoding="utf-8")
    init_identity(tmp_path)
    env = {
        **os.environ,
        "PYTHONPATH": str(Path(zlbench_core.__file__).parent.parent),
        "TRITON_CACHE_DIR": str(tmp_path / "cache"),
        "ZL_BACKEND": "cpu",
        "ZL_TARGET": "cuda:80",
        "ZL_OUT_DIR": str(tmp_path),
    }
    command = [sys.executable, "-m", "pytest", "test_configs.py", "-s", "-p", "no:cacheprovider"]
    command += ["-c", os.devnull, "--rootdir", str(tmp_path)]
    command += ["-p", "zlbench_core.plugins.device_setup", "-p", "zlbench_core.plugins.mm_cluster_fix"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    said = [line for line in done.stdout.splitlines() if "MM_CLUSTER_FIX" in line]
    assert [line[line.index("MM_CLUSTER_FIX") :] for line in said] == [
        "MM_CLUSTER_FIX dropped=2 kernel=mixed_kernel"
    ]
    assert load_identity(tmp_path)["mm_cluster_fix"] == {"dropped": 2, "kernels": {"mixed_kernel": 2}}
