"""Run as a program: compile the test kernels for named targets into an archive. No device is needed.

compile_kernels.py RUN_DIR [--kernels FILE] [--targets cuda hip] [--wrap] [--set NAME=VALUE]
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import types
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from zlbench_core.ir.capture import capture_into
from zlbench_core.ir.writer import ArchiveWriter

TARGETS = {"cuda": GPUTarget("cuda", 90, 32), "hip": GPUTarget("hip", "gfx942", 64)}


def load_kernels(path: Path) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location("the_kernels", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["the_kernels"] = module
    spec.loader.exec_module(module)
    return module


def sources(kernels: types.ModuleType) -> list[ASTSource]:
    floats = {"a": "*fp32", "b": "*fp32", "c": "*fp32"}
    mm = {**floats, "M": "constexpr", "N": "constexpr", "K": "constexpr"}
    scale = {"a": "*fp32", "c": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    aligned = {(0,): [["tt.divisibility", 16]]}
    return [
        ASTSource(kernels.mm, mm, {"M": 32, "N": 32, "K": 32}, aligned),
        ASTSource(kernels.scale, scale, {"BLOCK": 128}, aligned),
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("run_dir", type=Path)
    parser.add_argument("--kernels", type=Path, default=Path(__file__).with_name("kernels.py"))
    parser.add_argument("--targets", nargs="*", default=list(TARGETS))
    asked = parser.parse_args()
    kernels = load_kernels(asked.kernels)
    for target in asked.targets:
        os.environ["TRITON_CACHE_DIR"] = str(asked.run_dir / target / "cache")
        writer = ArchiveWriter(asked.run_dir / target)
        stop = capture_into(writer)
        for source in sources(kernels):
            triton.compile(source, target=TARGETS[target], options={"num_warps": 4})
        stop()
        writer.finish()


if __name__ == "__main__":
    main()
