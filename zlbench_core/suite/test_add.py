"""Elementwise sum."""

from __future__ import annotations

import pytest
import torch

from zlbench_core.suite import base
from zlbench_core.suite.kernels.add import add


@pytest.mark.add
def test_add() -> None:
    bench = base.PointwiseBenchmark(op_name="add", torch_op=torch.add, op=add)
    bench.run()
