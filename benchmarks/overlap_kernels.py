"""The kernels of h200_overlap.py: one that is timed, and one that compiles anew for every seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit
def add_one_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1.0, mask=mask)


@triton.jit
def product_kernel(a_ptr, out_ptr, count, SEED: tl.constexpr):
    """A product in a loop, which costs a compiler about what a tuner's config of mm does."""
    rows = tl.arange(0, 64)
    at = rows[:, None] * 64 + rows[None, :]
    total = tl.zeros((64, 64), dtype=tl.float32)
    for step in range(0, count, 64):
        a = tl.load(a_ptr + at + step)
        total += tl.dot(a, tl.trans(a)) + SEED
    tl.store(out_ptr + at, total)


def launcher(device: str, count: int) -> tuple[Callable[[], Any], Callable[[Iterable[int]], tuple[Any, ...]]]:
    """The launch that is timed, over `count` floats, and what makes a tuner whose configs are all uncompiled."""
    x, out = torch.zeros(count, device=device), torch.empty(count, device=device)
    grid = (triton.cdiv(count, 1024),)

    def tuner_of(seeds: Iterable[int]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        configs = [triton.Config({"SEED": seed}, num_warps=4) for seed in seeds]
        a = torch.zeros(64 * 64, device=device, dtype=torch.float16)
        tuner = triton.autotune(configs=configs, key=["count"])(product_kernel)
        return tuner, (a, torch.empty(64 * 64, device=device), 64), {"grid": (1,)}

    return lambda: add_one_kernel[grid](x, out, count, BLOCK=1024), tuner_of
