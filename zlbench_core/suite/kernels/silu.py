"""x * sigmoid(x), element by element. SILU_BLOCK sets the elements of a program: an A/B of it needs no edit."""

from __future__ import annotations

import os

import torch
import triton
import triton.language as tl

BLOCK = int(os.environ.get("SILU_BLOCK", "1024"))


@triton.jit
def silu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    out = x / (1.0 + tl.exp(-x))
    tl.store(out_ptr + offsets, out.to(out_ptr.dtype.element_ty), mask=mask)


def silu(x: torch.Tensor) -> torch.Tensor:
    """x * sigmoid(x) in x's shape and dtype."""
    x = x.contiguous()
    out = torch.empty_like(x)
    count = x.numel()
    silu_kernel[(triton.cdiv(count, BLOCK),)](x, out, count, BLOCK=BLOCK)
    return out
