from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from zlbench_core.ir.fingerprint import VariantFacts
from zlbench_core.ir.writer import ArchiveWriter

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
SWITCHES = {
    "base": {},
    "f32_ieee": {"TRITON_F32_DEFAULT": "ieee"},
    "no_llvm_opt": {"DISABLE_LLVM_OPT": "1"},
    "no_ptxas_opt": {"DISABLE_PTXAS_OPT": "1"},
    "no_line_info": {"TRITON_DISABLE_LINE_INFO": "1"},
    "binary_only": {"TRITON_STORE_BINARY_ONLY": "1"},
    "moved": {},
}


def clean_env(**more: str) -> dict[str, str]:
    named = ("TRITON_", "ZL_", "DISABLE_", "PYTEST_", "REPLAY_FROM")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(named)}
    return {**kept, "PYTHONPATH": os.pathsep.join([str(ROOT), kept.get("PYTHONPATH", "")]), **more}


def run_python(*arguments: object, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, env=dict(env), capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Archives of the test kernels under each switch, as `<switch>/<target>`; "moved" is another checkout."""
    root = tmp_path_factory.mktemp("compiled")
    moved = root / "elsewhere" / "deeper" / "kernels.py"
    moved.parent.mkdir(parents=True)
    text = (HERE / "kernels.py").read_text().replace("x = ", "renamed = ").replace("exp(x)", "exp(renamed)")
    text = text.replace("dot(x,", "dot(renamed,").replace("c + i, x,", "c + i, renamed,")
    moved.write_text(f"# a comment that moves every line\n\n{text}")

    def compile_under(switch: str) -> subprocess.CompletedProcess[str]:
        kernels = ["--kernels", moved] if switch == "moved" else []
        program = HERE / "compile_kernels.py"
        return run_python(program, root / switch, *kernels, env=clean_env(**SWITCHES[switch]))

    with ThreadPoolExecutor(2) as pool:
        for done in pool.map(compile_under, SWITCHES):
            assert done.returncode == 0, done.stderr
    return root


@pytest.fixture
def archive(tmp_path: Path) -> Callable[..., Path]:
    """Write an archive: `archive("a", {"add": {"ttir": b"..."}, ...})` returns its run folder."""

    def write(name: str, kernels: Mapping[str, Mapping[str, bytes]], pipeline: tuple[str, ...] = ()) -> Path:
        writer = ArchiveWriter(tmp_path / name)
        for kernel, stages in kernels.items():
            writer.add(facts(kernel), stages, pipeline)
        writer.finish()
        return tmp_path / name

    return write


def facts(kernel: str, **changed: object) -> VariantFacts:
    fields = {
        "kernel": kernel,
        "arguments": ("x", "n", "BLOCK"),
        "signature": {"0": "*fp32", "1": "i32", "2": "constexpr"},
        "constexprs": {"2": 128},
        "attributes": {"0": [["tt.divisibility", 16]]},
        "launch": {"num_warps": 4, "num_stages": 3, "num_ctas": 1, "maxnreg": None},
        "target": {"backend": "cuda", "arch": 90, "warp_size": 32},
        "options": {"default_dot_input_precision": "tf32"},
        "shared": 0,
    }
    return VariantFacts(**{**fields, **changed})
