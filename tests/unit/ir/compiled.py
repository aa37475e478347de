from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.unit.ir.ir_helpers import HERE, clean_env, facts, run_python
from zlbench_core.ir.writer import ArchiveWriter

SWITCHES = {
    "base": {},
    "f32_ieee": {"TRITON_F32_DEFAULT": "ieee"},
    "no_llvm_opt": {"DISABLE_LLVM_OPT": "1"},
    "no_ptxas_opt": {"DISABLE_PTXAS_OPT": "1"},
    "no_line_info": {"TRITON_DISABLE_LINE_INFO": "1"},
    "binary_only": {"TRITON_STORE_BINARY_ONLY": "1"},
    "moved": {},
}


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
