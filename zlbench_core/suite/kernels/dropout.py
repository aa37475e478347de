"""Dropout with Triton's counter-based random numbers: one seed, one mask."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"BLOCK": 1024}, num_warps=4),
    triton.Config({"BLOCK": 2048}, num_warps=8),
]


@triton.autotune(configs=CONFIGS, key=["count"])
@triton.jit(do_not_specialize=["seed"])
def dropout_kernel(x_ptr, out_ptr, count, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    keep = tl.rand(seed, offsets) >= p
    out = tl.where(keep, x / (1.0 - p), 0.0)
    tl.store(out_ptr + offsets, out.to(out_ptr.dtype.element_ty), mask=mask)


def dropout(x: torch.Tensor, p: float, seed: int = 0) -> torch.Tensor:
    """x with elements set to 0 with probability p and the others divided by 1 - p, as the seed decides."""
    x = x.contiguous()
    out = torch.empty_like(x)
    count = x.numel()
    dropout_kernel[lambda meta: (triton.cdiv(count, meta["BLOCK"]),)](x, out, count, p, seed)
    return out
