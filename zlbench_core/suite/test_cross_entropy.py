"""Cross entropy, one loss per row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from zlbench_core.suite import base
from zlbench_core.suite.kernels.cross_entropy import cross_entropy

IGNORED = -100


def torch_cross_entropy(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.cross_entropy(logits, target, reduction="none", ignore_index=IGNORED)


class CrossEntropyBenchmark(base.RowBenchmark):
    """Its shapes are set in code: (rows, classes) of a small vocabulary and of language models."""

    def set_shapes(self, shape_file: Any) -> None:
        small, large = [(8, 100), (16, 512)], [(1024, 1024), (2048, 32000), (4096, 128256)]
        core: list[tuple[int, ...]] = [*(small if self.config.is_cpu else large)]
        self.shapes = [*core, (16, 77)] if self._is_comprehensive() else core
        self.shape_desc = "rows, classes"

    def get_input_iter(self, dtype: torch.dtype) -> Iterator[base.Inputs]:
        for rows, classes in self.shapes:
            logits = torch.randn((rows, classes), dtype=dtype, device=self.device)
            target = torch.randint(classes, (rows,), device=self.device)
            target[0] = IGNORED
            yield logits, target

    def get_bytes(self, logits: torch.Tensor, *rest: Any) -> int:
        return logits.numel() * logits.element_size()


@pytest.mark.cross_entropy
def test_cross_entropy() -> None:
    bench = CrossEntropyBenchmark(op_name="cross_entropy", torch_op=torch_cross_entropy, op=cross_entropy)
    bench.run()
