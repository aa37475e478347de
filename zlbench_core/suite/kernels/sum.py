"""Sum over the last axis, accumulating in float32."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from zlbench_core.suite.kernels.rows import as_rows, block_of_rows

CONFIGS = [
    triton.Config({"ROWS": 4, "BLOCK_N": 1024}, num_warps=8),
    triton.Config({"ROWS": 8, "BLOCK_N": 256}, num_warps=4),
]


@triton.autotune(configs=CONFIGS, key=["M", "N"])
@triton.jit
def sum_kernel(x_ptr, out_ptr, M, N, ROWS: tl.constexpr, BLOCK_N: tl.constexpr):
    acc = tl.zeros((ROWS, BLOCK_N), dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        offsets, mask = block_of_rows(M, N, start, ROWS, BLOCK_N)
        acc += tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    total = tl.sum(acc, axis=1)
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    tl.store(out_ptr + rows, total.to(out_ptr.dtype.element_ty), mask=rows < M)


def sum(x: torch.Tensor, dim: int) -> torch.Tensor:
    """Sum of x over its last axis, in x's dtype. Raises ValueError for another axis."""
    if dim not in (-1, x.ndim - 1):
        raise ValueError(f"sum: dim {dim} of a tensor of {x.ndim} axes; only the last axis is supported")
    rows = as_rows(x)
    m, n = rows.shape
    out = torch.empty((m,), dtype=x.dtype, device=x.device)
    sum_kernel[lambda meta: (triton.cdiv(m, meta["ROWS"]),)](rows, out, m, n)
    return out.view(x.shape[:-1])
