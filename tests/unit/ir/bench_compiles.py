"""A tiny pytest file for the plugin's tests: it compiles kernels as a benchmark does and launches none."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import triton

from tests.unit.ir.compile_kernels import TARGETS, load_kernels, sources

TARGET = TARGETS["cuda"]


@pytest.mark.skipif("BENCH_SKIP" in os.environ, reason="asked for")
def test_compiles_in_this_thread_and_in_others() -> None:
    first, second = sources(load_kernels(Path(__file__).with_name("kernels.py")))
    triton.compile(first, target=TARGET)
    with ThreadPoolExecutor(2) as pool:
        for kernel in pool.map(lambda _: triton.compile(second, target=TARGET), range(3)):
            assert kernel.asm["ttgir"]


def test_ends_as_asked() -> None:
    if "BENCH_INTERRUPT" in os.environ:
        raise KeyboardInterrupt
    assert "BENCH_FAIL" not in os.environ
