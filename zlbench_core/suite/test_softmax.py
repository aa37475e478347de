"""Softmax over the last axis."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from zlbench_core.suite import base
from zlbench_core.suite.kernels.softmax import softmax


class SoftmaxBenchmark(base.RowBenchmark):
    def tolerance(self, dtype: torch.dtype, *args: Any) -> base.Tolerance:
        # A long row has small results, so almost all is relative: an approximate exp of up to -20 is off by
        # 20 float32 roundings. Below 2**-24 float16 has no numbers.
        return base.Tolerance(absolute=2.0**-23, relative=max(4 * torch.finfo(dtype).eps, 2.0**-18))


@pytest.mark.softmax
def test_softmax() -> None:
    bench = SoftmaxBenchmark(op_name="softmax", torch_op=torch.softmax, op=softmax)
    bench.run()
