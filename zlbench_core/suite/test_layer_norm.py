"""Layer normalisation over the last axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from zlbench_core.suite import base
from zlbench_core.suite.kernels.layer_norm import layer_norm


class LayerNormBenchmark(base.RowBenchmark):
    def get_input_iter(self, dtype: torch.dtype) -> Iterator[base.Inputs]:
        for shape in self.shapes:
            x = torch.randn(shape, dtype=dtype, device=self.device)
            weight, bias = (torch.randn(shape[-1:], dtype=dtype, device=self.device) for _ in range(2))
            yield x, list(shape[-1:]), weight, bias

    def tolerance(self, dtype: torch.dtype, *args: Any) -> base.Tolerance:
        # x, mean, scale, weight and bias each add a rounding of a term of size up to about 10.
        return base.tolerance(dtype, terms=100)


@pytest.mark.layer_norm
def test_layer_norm() -> None:
    bench = LayerNormBenchmark(op_name="layer_norm", torch_op=torch.nn.functional.layer_norm, op=layer_norm)
    bench.run()
