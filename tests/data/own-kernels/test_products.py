import numpy as np
import pytest
import torch
from matmul_lib import dot


class TestDot:
    @pytest.mark.parametrize("kind", ["none", "relu"])
    def test_dot(self, operands, kind):
        a, b = operands
        want = torch.relu(a @ b) if kind == "relu" else a @ b
        np.testing.assert_allclose(dot(a, b, kind).cpu().numpy(), want.cpu().numpy(), atol=1e-1)


def test_without_a_kernel():
    assert torch.ones(1).item() == 1.0
