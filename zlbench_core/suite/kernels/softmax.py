"""Softmax over the last axis: two passes over each row, the first one online."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from zlbench_core.suite.kernels.rows import as_rows, block_of_rows, online_maximum

CONFIGS = [
    triton.Config({"ROWS": 4, "BLOCK_N": 1024}, num_warps=8),
    triton.Config({"ROWS": 8, "BLOCK_N": 256}, num_warps=4),
]


@triton.autotune(configs=CONFIGS, key=["M", "N"])
@triton.jit
def softmax_kernel(x_ptr, out_ptr, M, N, ROWS: tl.constexpr, BLOCK_N: tl.constexpr):
    maximum = tl.full((ROWS,), -1e30, dtype=tl.float32)
    total = tl.zeros((ROWS,), dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        offsets, mask = block_of_rows(M, N, start, ROWS, BLOCK_N)
        x = tl.load(x_ptr + offsets, mask=mask, other=float("-inf")).to(tl.float32)
        maximum, total = online_maximum(x, maximum, total)
    for start in range(0, N, BLOCK_N):
        offsets, mask = block_of_rows(M, N, start, ROWS, BLOCK_N)
        x = tl.load(x_ptr + offsets, mask=mask, other=float("-inf")).to(tl.float32)
        out = tl.exp(x - maximum[:, None]) / total[:, None]
        tl.store(out_ptr + offsets, out.to(out_ptr.dtype.element_ty), mask=mask)


def softmax(x: torch.Tensor, dim: int) -> torch.Tensor:
    """Softmax of x over its last axis, in x's dtype. Raises ValueError for another axis."""
    if dim not in (-1, x.ndim - 1):
        raise ValueError(f"softmax: dim {dim} of a tensor of {x.ndim} axes; only the last axis is supported")
    rows = as_rows(x)
    out = torch.empty_like(rows)
    m, n = rows.shape
    softmax_kernel[lambda meta: (triton.cdiv(m, meta["ROWS"]),)](rows, out, m, n)
    return out.view(x.shape)
