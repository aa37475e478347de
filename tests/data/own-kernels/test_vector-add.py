"""A kernel's test as people write it: CUDA by name, assertions, several shapes, nothing of zlbench."""

import pytest
import torch
import triton
import triton.language as tl
from torch.testing import assert_close


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def add(x, y):
    out = torch.empty_like(x)
    assert x.is_cuda, "a CUDA tensor is expected"
    grid = lambda meta: (triton.cdiv(out.numel(), meta["BLOCK_SIZE"]),)  # noqa: E731
    add_kernel[grid](x, y, out, out.numel(), BLOCK_SIZE=128)
    return out


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_add(dtype):
    torch.manual_seed(0)
    x = torch.rand(1000, device="cuda", dtype=dtype)
    y = torch.rand(1000, device="cuda").to(dtype)
    assert_close(add(x, y), x + y)
    torch.cuda.synchronize()


def test_add_of_integers():
    x = torch.arange(64).cuda()
    assert torch.equal(add(x, x), 2 * x), "wrong sum"
    # Reached only where the assertion before it is not enforced: the result was never computed.
    y = x.to(torch.int8)
    assert add(y, y).sum().item() == 2 * y.sum().item()
