"""Dropout: checked by what a random result can be checked for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from zlbench_core.suite import base
from zlbench_core.suite.check import WrongResult, check_close, reference_device, widened
from zlbench_core.suite.kernels.dropout import dropout

SIGMAS = 6


class DropoutBenchmark(base.PointwiseBenchmark):
    DEFAULT_METRICS = base.DEFAULT_METRICS

    def get_input_iter(self, dtype: torch.dtype) -> Iterator[base.Inputs]:
        for shape in self.shapes:
            yield torch.randn(shape, dtype=dtype, device=self.device), 0.5

    def check(self, dtype: torch.dtype, *args: Any, **kwargs: Any) -> None:
        """Kept elements are x / (1 - p), a share p is dropped, and the seed alone decides which."""
        x, p = args
        first, second, other = self.op(x, p, 7), self.op(x, p, 7), self.op(x, p, 8)
        wide = widened(x, reference_device(self.device))
        dropped = (first == 0).to(wide.device) & (wide != 0)
        exact = torch.where(dropped, 0.0, wide / (1 - p))
        name = f"dropout {dtype} {list(x.shape)}"
        check_close(name, first, exact, dtype, self.tolerance(dtype))
        share, slack = dropped.double().mean().item(), SIGMAS * math.sqrt(p * (1 - p) / x.numel())
        if abs(share - p) > slack:
            raise WrongResult(
                f"wrong result of {name}: {share:.4g} of it is dropped, expected {p} +- {slack:.2g}"
            )
        if not torch.equal(first, second):
            raise WrongResult(f"wrong result of {name}: two calls with one seed differ")
        if torch.equal(first, other):
            raise WrongResult(f"wrong result of {name}: two seeds give one mask")


@pytest.mark.dropout
def test_dropout() -> None:
    bench = DropoutBenchmark(op_name="dropout", torch_op=torch.nn.functional.dropout, op=dropout)
    bench.run()
