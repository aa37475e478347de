"""A kernel whose time is a number of loops, so that a difference of a known size can be injected (h200_duet.py).

Of the environment: SPINS, loops of the compiled code; SPIN_DRIFT, loops that each further round adds at run time.
"""

from __future__ import annotations

import os
from pathlib import Path

import torch
import triton
import triton.language as tl

from zlbench_core.suite import base

SPINS = int(os.environ.get("SPINS", "2000"))
DRIFT = int(os.environ.get("SPIN_DRIFT", "0"))
STEP = 2.0**-11  # x -> (1 - STEP) x + STEP contracts to 1, so that a wrong number of loops is a wrong result


@triton.jit(do_not_specialize=["extra"])
def spin_kernel(x_ptr, out_ptr, count, shrink, shift, extra, SPINS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    x = tl.load(x_ptr + offsets, mask=mask)
    for _ in range(SPINS + extra):
        x = x * shrink + shift
    tl.store(out_ptr + offsets, x, mask=mask)


def extra_loops() -> int:
    """What has drifted until this round: the run's folder is named after it."""
    round_name = Path(os.environ.get("ZL_OUT_DIR", "r1")).name.removeprefix("r")
    return DRIFT * (int(round_name) - 1) if round_name.isdecimal() else 0


def spin(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 1024),)
    spin_kernel[grid](x, out, x.numel(), 1 - STEP, STEP, extra_loops(), SPINS=SPINS, BLOCK=1024)
    return out


def closed_form(x: torch.Tensor) -> torch.Tensor:
    return (x - 1) * (1 - STEP) ** (SPINS + extra_loops()) + 1


class SpinBenchmark(base.Benchmark):
    DEFAULT_SHAPES = tuple((1 << exponent,) for exponent in range(16, 24))

    def get_input_iter(self, dtype: torch.dtype):
        for shape in self.shapes:
            yield (torch.randn(shape, dtype=dtype, device=self.device),)

    def tolerance(self, dtype: torch.dtype, *args: object) -> base.Tolerance:
        return base.Tolerance(absolute=1e-4, relative=1e-4)


def test_spin() -> None:
    SpinBenchmark(op_name="spin", torch_op=closed_form, op=spin).run()
