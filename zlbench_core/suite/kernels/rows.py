"""What the row-wise operators share: the addresses of a block of rows, and the view of a tensor as rows."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def block_of_rows(M, N, start, ROWS: tl.constexpr, BLOCK_N: tl.constexpr):
    # Offsets in elements and mask of [ROWS, BLOCK_N] in a contiguous [M, N], from column `start` on.
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = start + tl.arange(0, BLOCK_N)
    offsets = rows.to(tl.int64)[:, None] * N + columns[None, :]
    return offsets, (rows[:, None] < M) & (columns[None, :] < N)


@triton.jit
def online_maximum(values, maximum, total):
    # Running maximum of each row, and running sum of exp(value - maximum): one pass over a row of any length.
    larger = tl.maximum(maximum, tl.max(values, axis=1))
    total = total * tl.exp(maximum - larger) + tl.sum(tl.exp(values - larger[:, None]), axis=1)
    return larger, total


def as_rows(x: torch.Tensor) -> torch.Tensor:
    """x as a contiguous [rows, length of the last axis]."""
    return x.contiguous().view(-1, x.shape[-1])
