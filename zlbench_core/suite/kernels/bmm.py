"""Batched matrix product: the tile of mm, with the batch on the grid's second axis."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from zlbench_core.suite.kernels.tiles import CONFIGS, grouped_tile, tile_product


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def bmm_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_ab,
    stride_am,
    stride_ak,
    stride_bb,
    stride_bk,
    stride_bn,
    stride_cb,
    stride_cm,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    batch = tl.program_id(1).to(tl.int64)
    a_ptr += batch * stride_ab
    b_ptr += batch * stride_bb
    c_ptr += batch * stride_cb
    tile_m, tile_n = grouped_tile(M, N, BLOCK_M, BLOCK_N, GROUP_M)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tile_product(
        a_ptr,
        b_ptr,
        rows,
        columns,
        M,
        N,
        K,
        stride_am,
        stride_ak,
        stride_bk,
        stride_bn,
        BLOCK_M,
        BLOCK_N,
        BLOCK_K,
    )
    tl.store(
        c_ptr + rows[:, None] * stride_cm + columns[None, :],
        acc.to(c_ptr.dtype.element_ty),
        mask=(rows[:, None] < M) & (columns[None, :] < N),
    )


def bmm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a @ b for a of [batch, m, k] and b of [batch, k, n], any strides; the result has a's dtype."""
    (batch, m, k), n = a.shape, b.shape[2]
    c = torch.empty((batch, m, n), dtype=a.dtype, device=a.device)

    def grid(meta: dict[str, int]) -> tuple[int, int]:
        return (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]), batch)

    bmm_kernel[grid](a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride()[:2])
    return c
