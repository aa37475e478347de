"""Sum over the last axis."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from zlbench_core.suite import base
from zlbench_core.suite.kernels.sum import sum as triton_sum


class SumBenchmark(base.RowBenchmark):
    def get_bytes(self, x: torch.Tensor, *rest: Any) -> int:
        return (x.numel() + x.numel() // x.shape[-1]) * x.element_size()

    def tolerance(self, dtype: torch.dtype, *args: Any) -> base.Tolerance:
        return base.tolerance(dtype, terms=args[0].shape[-1])


@pytest.mark.sum
def test_sum() -> None:
    bench = SumBenchmark(op_name="sum", torch_op=torch.sum, op=triton_sum)
    bench.run()
