"""Softmax over the last axis."""

from __future__ import annotations

import pytest
import torch

from zlbench_core.suite import base
from zlbench_core.suite.kernels.softmax import softmax


@pytest.mark.softmax
def test_softmax() -> None:
    bench = base.RowBenchmark(op_name="softmax", torch_op=torch.softmax, op=softmax)
    bench.run()
