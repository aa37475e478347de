"""x * sigmoid(x)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from zlbench_core.suite import base
from zlbench_core.suite.kernels.silu import silu


class SiluBenchmark(base.PointwiseBenchmark):
    def get_input_iter(self, dtype: torch.dtype) -> Iterator[base.Inputs]:
        for shape in self.shapes:
            yield (torch.randn(shape, dtype=dtype, device=self.device),)

    def tolerance(self, dtype: torch.dtype, *args: object) -> base.Tolerance:
        # exp and the division are approximate on a device: a few roundings of a value of size up to about 5.
        return base.tolerance(dtype, terms=16)


@pytest.mark.silu
def test_silu() -> None:
    bench = SiluBenchmark(op_name="silu", torch_op=torch.nn.functional.silu, op=silu)
    bench.run()
