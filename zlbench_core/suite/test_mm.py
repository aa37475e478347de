"""Matrix product."""

from __future__ import annotations

import pytest
import torch

from zlbench_core.suite import base
from zlbench_core.suite.kernels.mm import mm


@pytest.mark.mm
def test_mm() -> None:
    bench = base.BlasBenchmark(op_name="mm", torch_op=torch.mm, op=mm)
    bench.run()
