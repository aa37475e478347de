"""Batched matrix product."""

from __future__ import annotations

import pytest
import torch

from zlbench_core.suite import base
from zlbench_core.suite.kernels.bmm import bmm


class BatchedBlasBenchmark(base.BlasBenchmark):
    def operands(
        self, batch: int, m: int, n: int, k: int, dtype: torch.dtype, transposed: bool
    ) -> base.Inputs:
        a = torch.randn((batch, m, k), dtype=dtype, device=self.device)
        b_shape = (batch, n, k) if transposed else (batch, k, n)
        b = torch.randn(b_shape, dtype=dtype, device=self.device)
        return a, b.mT if transposed else b


@pytest.mark.bmm
def test_bmm() -> None:
    bench = BatchedBlasBenchmark(op_name="bmm", torch_op=torch.bmm, op=bmm)
    bench.run()
