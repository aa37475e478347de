"""What the two matrix products share: which tile a program works on, and the product of one tile."""

from __future__ import annotations

import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 8}, num_warps=4, num_stages=3),
    triton.Config({"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 8}, num_warps=4, num_stages=3),
    triton.Config({"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32, "GROUP_M": 8}, num_warps=8, num_stages=2),
]


@triton.jit
def grouped_tile(M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    # Columns of GROUP_M tiles run together, so that they find each other's operands in the L2 cache.
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    first_m = (pid // (GROUP_M * tiles_n)) * GROUP_M
    height = tl.minimum(tiles_m - first_m, GROUP_M)
    inner = pid % (GROUP_M * tiles_n)
    return first_m + inner % height, inner // height


@triton.jit
def tile_product(
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
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        depth = start + tl.arange(0, BLOCK_K)
        a = tl.load(
            a_ptr + rows[:, None] * stride_am + depth[None, :] * stride_ak,
            mask=(rows[:, None] < M) & (depth[None, :] < K),
            other=0.0,
        )
        b = tl.load(
            b_ptr + depth[:, None] * stride_bk + columns[None, :] * stride_bn,
            mask=(depth[:, None] < K) & (columns[None, :] < N),
            other=0.0,
        )
        # No input_precision: TRITON_F32_DEFAULT decides what a float32 product is.
        acc = tl.dot(a, b, acc)
    return acc
