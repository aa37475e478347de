"""Cross entropy of logits against class indices, one loss per row."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from zlbench_core.suite.kernels.rows import block_of_rows, online_maximum

CONFIGS = [
    triton.Config({"ROWS": 4, "BLOCK_N": 1024}, num_warps=8),
    triton.Config({"ROWS": 8, "BLOCK_N": 256}, num_warps=4),
]


@triton.autotune(configs=CONFIGS, key=["M", "N"])
@triton.jit
def cross_entropy_kernel(
    logits_ptr, target_ptr, loss_ptr, M, N, ignore_index, ROWS: tl.constexpr, BLOCK_N: tl.constexpr
):
    maximum = tl.full((ROWS,), -1e30, dtype=tl.float32)
    total = tl.zeros((ROWS,), dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        offsets, mask = block_of_rows(M, N, start, ROWS, BLOCK_N)
        x = tl.load(logits_ptr + offsets, mask=mask, other=float("-inf")).to(tl.float32)
        maximum, total = online_maximum(x, maximum, total)
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    target = tl.load(target_ptr + rows, mask=rows < M, other=0)
    counts = (rows < M) & (target != ignore_index)
    chosen = tl.load(logits_ptr + rows.to(tl.int64) * N + target, mask=counts, other=0.0).to(tl.float32)
    loss = tl.where(counts, maximum + tl.log(total) - chosen, 0.0)
    tl.store(loss_ptr + rows, loss.to(loss_ptr.dtype.element_ty), mask=rows < M)


def cross_entropy(logits: torch.Tensor, target: torch.Tensor, ignore_index: int = -100) -> torch.Tensor:
    """Loss of each row of logits [rows, classes] against target [rows] (int64); 0 where ignored."""
    logits = logits.contiguous()
    m, n = logits.shape
    loss = torch.empty((m,), dtype=logits.dtype, device=logits.device)
    cross_entropy_kernel[lambda meta: (triton.cdiv(m, meta["ROWS"]),)](
        logits, target, loss, m, n, ignore_index
    )
    return loss
