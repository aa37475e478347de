"""Layer normalisation over the last axis, with weight and bias."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from zlbench_core.suite.kernels.rows import as_rows, block_of_rows

CONFIGS = [
    triton.Config({"ROWS": 4}, num_warps=8),
    triton.Config({"ROWS": 8}, num_warps=4),
]
MAX_BLOCK = 1024


def block_length(arguments: dict[str, Any]) -> int:
    return min(triton.next_power_of_2(arguments["N"]), MAX_BLOCK)


@triton.autotune(configs=CONFIGS, key=["M", "N"])
@triton.heuristics({"BLOCK_N": block_length})
@triton.jit
def layer_norm_kernel(
    x_ptr, weight_ptr, bias_ptr, out_ptr, M, N, eps, ROWS: tl.constexpr, BLOCK_N: tl.constexpr
):
    total = tl.zeros((ROWS,), dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        offsets, mask = block_of_rows(M, N, start, ROWS, BLOCK_N)
        total += tl.sum(tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32), axis=1)
    mean = (total / N)[:, None]
    squares = tl.zeros((ROWS,), dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        offsets, mask = block_of_rows(M, N, start, ROWS, BLOCK_N)
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        centred = tl.where(mask, x - mean, 0.0)
        squares += tl.sum(centred * centred, axis=1)
    scale = (1.0 / tl.sqrt(squares / N + eps))[:, None]
    for start in range(0, N, BLOCK_N):
        offsets, mask = block_of_rows(M, N, start, ROWS, BLOCK_N)
        columns = start + tl.arange(0, BLOCK_N)
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)
        bias = tl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)
        out = (x - mean) * scale * weight[None, :] + bias[None, :]
        tl.store(out_ptr + offsets, out.to(out_ptr.dtype.element_ty), mask=mask)


def layer_norm(
    x: torch.Tensor, normalized_shape: list[int], weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5
) -> torch.Tensor:
    """Layer norm of x over its last axis, in x's dtype. Raises ValueError for a longer normalized_shape."""
    if list(normalized_shape) != [x.shape[-1]]:
        raise ValueError(
            f"layer_norm: normalized_shape {normalized_shape}; only [{x.shape[-1]}] is supported"
        )
    rows = as_rows(x)
    out = torch.empty_like(rows)
    m, n = rows.shape
    layer_norm_kernel[lambda meta: (triton.cdiv(m, meta["ROWS"]),)](rows, weight, bias, out, m, n, eps)
    return out.view(x.shape)
