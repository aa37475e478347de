"""What the cpu driver must do for the target in ZL_TARGET; run by test_cpu_driver.py, a process a target."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import triton
import triton.language as tl
from triton.runtime.errors import OutOfResources

from zlbench_core.backends import cpu_driver
from zlbench_core.errors import ConfigError, ZlbenchError

TARGET = os.environ["ZL_TARGET"]
BINARY = "cubin" if TARGET.startswith("cuda") else "hsaco"
cpu_driver.activate(TARGET)
# Triton before 3.4 asks for the driver where a kernel is decorated: as in a benchmark, where a plugin is first.
from zlbench_core.suite.kernels.layer_norm import layer_norm_kernel  # noqa: E402
from zlbench_core.suite.kernels.mm import mm_kernel  # noqa: E402
from zlbench_core.suite.kernels.softmax import softmax_kernel  # noqa: E402

LANGUAGE = {owner: dict(vars(owner)) for owner in (tl, tl.core, tl.math, tl.tensor, tl.dtype)}


def assert_language_is_compiled() -> None:
    for owner, before in LANGUAGE.items():
        changed = [name for name, value in vars(owner).items() if before.get(name) is not value]
        assert not changed, f"{owner} still has {changed}"
        assert vars(owner).keys() == before.keys()


@triton.jit
def scaled(x, factor):
    product = x * factor
    return product + 1.0


@triton.autotune([triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64}, num_warps=2)], key=["count"])
@triton.jit
def tuned_kernel(x_ptr, out_ptr, block_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(out_ptr + offsets, scaled(tl.load(x_ptr + offsets, mask=mask), 2.0), mask=mask)
    tl.store(block_ptr, BLOCK)


def launch_tuned(count: int) -> tuple[torch.Tensor, torch.Tensor, int, triton.compiler.CompiledKernel]:
    x, out, block = torch.randn(count), torch.full((count,), -7.0), torch.zeros(1, dtype=torch.int32)
    kernel = tuned_kernel[lambda meta: (triton.cdiv(count, meta["BLOCK"]),)](x, out, block, count)
    return x, out, int(block), kernel


def test_tuned_kernel_with_a_nested_helper_is_right_and_compiled() -> None:
    x, out, block, kernel = launch_tuned(100)
    torch.testing.assert_close(out, x * 2 + 1)
    assert {"ttir", "ttgir", "llir", BINARY} <= kernel.asm.keys()
    assert kernel.metadata.target == cpu_driver.parse_target(TARGET)
    assert len(tuned_kernel.fn.device_caches[0][0]) == 2
    assert block == tuned_kernel.best_config.kwargs["BLOCK"]


def test_launch_uses_the_config_that_the_tuner_holds() -> None:
    for config in tuned_kernel.configs:
        tuned_kernel.cache = {(70, "torch.float32", "torch.float32", "torch.int32"): config}
        assert launch_tuned(70)[2] == config.kwargs["BLOCK"]


@triton.jit
def row_statistics(x_ptr, out_ptr, N: tl.constexpr):
    columns = tl.arange(0, N)
    row = tl.load(x_ptr + tl.program_id(0) * N + columns)
    base = out_ptr + tl.program_id(0) * 4
    tl.store(base, tl.sum(row, axis=0))
    tl.store(base + 1, tl.max(row, axis=0))
    tl.store(base + 2, tl.argmax(row, axis=0).to(tl.float32))
    tl.store(base + 3, tl.sum(tl.cumsum(row, axis=0), axis=0))


def test_second_kernel_compiles_after_a_launch_with_nested_calls() -> None:
    launch_tuned(33)
    assert_language_is_compiled()
    x, out = torch.randn(3, 16), torch.zeros(3, 4)
    row_statistics[(3,)](x, out, N=16)
    expected = [x.sum(1), x.max(1).values, x.argmax(1).float(), x.cumsum(1).sum(1)]
    torch.testing.assert_close(out, torch.stack(expected, 1))
    assert_language_is_compiled()


@triton.heuristics({"TWICE": lambda arguments: arguments["step"] * 2})
@triton.jit(do_not_specialize=["step"])
def grid_kernel(out_ptr, step, TWICE: tl.constexpr, BIAS: tl.constexpr = 5):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    index = (x * tl.num_programs(1) + y) * tl.num_programs(2) + z
    tl.store(out_ptr + index, index * step + TWICE + BIAS)


@pytest.mark.parametrize("grid", [(4,), (2, 3), (2, 3, 4)])
def test_grids_heuristics_keywords_and_default_constexprs(grid: tuple[int, ...]) -> None:
    size = torch.Size(grid).numel()
    out = torch.zeros(size, dtype=torch.int32)
    grid_kernel[grid](out_ptr=out, step=3)
    assert out.tolist() == [i * 3 + 6 + 5 for i in range(size)]


def test_warmup_compiles_and_does_not_launch_and_the_kernel_launches_later() -> None:
    x, out, block = torch.randn(64), torch.full((64,), -7.0), torch.zeros(1, dtype=torch.int32)
    kernel = tuned_kernel.fn.warmup(x, out, block, 64, BLOCK=16, grid=(4,))
    assert BINARY in kernel.asm
    assert (out == -7.0).all()
    kernel[(4, 1, 1)](x, out, block, 64, 16)
    torch.testing.assert_close(out, x * 2 + 1)
    kernel[(4, 1, 1)](x, out, block, 64)  # as Triton 3.2 launches: without the constexprs


def test_launch_with_a_wrong_number_of_arguments_is_refused() -> None:
    kernel = tuned_kernel.fn.warmup(torch.zeros(4), torch.zeros(4), torch.zeros(1), 4, BLOCK=16, grid=(1,))
    with pytest.raises(ZlbenchError, match=r"launched with 2 arguments; it takes 5"):
        kernel[(1, 1, 1)](torch.zeros(4), torch.zeros(4))


@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, N: tl.constexpr):
    index = tl.arange(0, N)
    square = index[:, None] * N + index[None, :]
    a, b = tl.load(a_ptr + square), tl.load(b_ptr + square)
    tl.store(c_ptr + square, tl.dot(a, b).to(c_ptr.dtype.element_ty))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.bfloat16])
def test_dot(dtype: torch.dtype) -> None:
    a, b, c = torch.randn(32, 32).to(dtype), torch.randn(32, 32).to(dtype), torch.zeros(32, 32, dtype=dtype)
    product_kernel[(1,)](a, b, c, N=32)
    torch.testing.assert_close(c, (a.double() @ b.double()).to(dtype))


@triton.jit
def bfloat16_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    index = tl.arange(0, N)
    x, y = tl.load(x_ptr + index), tl.load(y_ptr + index)
    tl.store(out_ptr + index, tl.where(x < y, x + y, -(x * y)))


def test_bfloat16_arithmetic_is_rounded_as_torch_rounds() -> None:
    x, y, out = (torch.randn(256).bfloat16() for _ in range(3))
    bfloat16_kernel[(1,)](x, y, out, N=256)
    assert torch.equal(out, torch.where(x < y, x + y, -(x * y)))


@triton.jit
def random_kernel(out_ptr, seed, N: tl.constexpr):
    index = tl.arange(0, N)
    tl.store(out_ptr + index, tl.rand(seed, index))


def test_random_numbers_follow_the_seed() -> None:
    first, again, other = (torch.zeros(512) for _ in range(3))
    for out, seed in ((first, 1), (again, 1), (other, 2)):
        random_kernel[(1,)](out, seed, N=512)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert (first >= 0).all()
    assert (first < 1).all()
    assert 0.4 < first.mean() < 0.6


@triton.jit
def descriptor_kernel(x_desc, out_ptr, N: tl.constexpr):
    index = tl.arange(0, N)
    block = x_desc.load([N, 0])
    tl.store(out_ptr + index[:, None] * N + index[None, :], block)


def test_tensor_descriptor() -> None:
    descriptors = pytest.importorskip("triton.tools.tensor_descriptor", reason="Triton before 3.4")
    x, out = torch.randn(32, 16), torch.zeros(16, 16)
    descriptor_kernel[(1,)](descriptors.TensorDescriptor.from_tensor(x, [16, 16]), out, N=16)
    assert torch.equal(out, x[16:])


def test_kernel_may_call_a_helper_of_its_enclosing_function() -> None:
    @triton.jit
    def helper(x):
        return x + 3

    @triton.jit
    def kernel(out_ptr):
        tl.store(out_ptr, helper(tl.program_id(0)))

    out = torch.zeros(1, dtype=torch.int32)
    kernel[(1,)](out)
    assert out.item() == 3


@triton.jit
def unsupported_kernel(out_ptr):
    one = tl.inline_asm_elementwise("", "=r", [], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out_ptr, one)


def test_error_of_a_kernel_names_it_and_leaves_the_language_compiled() -> None:
    with pytest.raises(NotImplementedError) as caught:
        unsupported_kernel[(1,)](torch.zeros(1, dtype=torch.int32))
    assert "program (0, 0, 0) of kernel unsupported_kernel" in caught.value.__notes__[0]
    assert_language_is_compiled()
    launch_tuned(17)


def test_tensor_of_another_device_is_refused() -> None:
    with pytest.raises(ZlbenchError, match="out_ptr is on meta"):
        random_kernel[(1,)](torch.empty(64, device="meta"), 1, N=64)


@triton.jit
def staged_kernel(a_ptr, b_ptr, c_ptr, K, N: tl.constexpr):
    index = tl.arange(0, N)
    acc = tl.zeros((N, N), dtype=tl.float32)
    for start in range(0, K, N):
        a = tl.load(a_ptr + index[:, None] * K + start + index[None, :])
        b = tl.load(b_ptr + (start + index)[:, None] * N + index[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + index[:, None] * N + index[None, :], acc)


def test_kernel_that_needs_more_shared_memory_than_the_target_has_is_refused() -> None:
    a, b, c = torch.randn(128, 512), torch.randn(512, 128), torch.zeros(128, 128)
    with pytest.raises(OutOfResources, match="shared memory"):
        staged_kernel[(1,)](a, b, c, 512, N=128, num_stages=5, num_warps=8)


@triton.jit
def numbered_kernel(out_ptr, NUMBER: tl.constexpr):
    tl.store(out_ptr, tl.sum(tl.full((16,), 1, tl.int32), axis=0) * NUMBER)


def test_compilation_in_other_threads_does_not_meet_the_interpreter() -> None:
    def compiled(number: int) -> str:
        return numbered_kernel.warmup(torch.int32, NUMBER=number, grid=(1,)).asm["ttir"]

    with ThreadPoolExecutor(2) as pool:
        pending = [pool.submit(compiled, number) for number in range(20, 32)]
        while not all(future.done() for future in pending):
            launch_tuned(33)
    assert all("tt.store" in future.result() for future in pending)
    out = torch.zeros(1, dtype=torch.int32)
    numbered_kernel[(1,)](out, NUMBER=21)
    assert out.item() == 16 * 21


def test_do_bench_works_on_the_device_interface() -> None:
    out = torch.zeros(64)
    times = triton.testing.do_bench(
        lambda: random_kernel[(1,)](out, 1, N=64), warmup=1, rep=1, return_mode="all"
    )
    assert times
    assert all(time > 0 for time in times)


def test_float32_mm_follows_the_default_precision_and_softmax_has_no_dot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a, out, sizes = torch.zeros(64, 64), torch.zeros(64, 64), (64, 64, 64)

    def mm_ttir() -> str:
        mm_kernel.fn.device_caches.clear()
        blocks = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 8}
        return mm_kernel.fn.warmup(a, a, out, *sizes, 64, 1, 64, 1, 64, **blocks, grid=(1,)).asm["ttir"]

    default = mm_ttir()
    monkeypatch.setenv("TRITON_F32_DEFAULT", "ieee")
    ieee = mm_ttir()
    assert "inputPrecision = tf32" in default
    assert "tt.dot" in ieee
    assert "tf32" not in ieee
    rows = softmax_kernel.fn.warmup(a, out, 64, 64, ROWS=8, BLOCK_N=256, grid=(8,))
    norm = layer_norm_kernel.fn.warmup(a, a, a, out, 64, 64, 1e-5, ROWS=8, grid=(8,))
    assert "tt.dot" not in rows.asm["ttir"] + norm.asm["ttir"]


def test_activate_is_idempotent_and_refuses_a_second_target() -> None:
    active = triton.runtime.driver.active
    cpu_driver.activate(TARGET)
    cpu_driver.activate(None)
    assert triton.runtime.driver.active is active
    assert cpu_driver.active_target() == TARGET
    with pytest.raises(ConfigError, match=f"already compiles for '{TARGET}'"):
        cpu_driver.activate("cuda:80")
