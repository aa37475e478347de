import pytest
import torch


@pytest.fixture
def operands():
    torch.manual_seed(0)
    return torch.randn(32, 64, device="cuda"), torch.randn(64, 32, device="cuda")
