"""Operators whose second shard goes wrong while it records, each in its own way; everything else goes right."""

from __future__ import annotations

import atexit
import os
import resource
import signal

import torch
import triton
import triton.language as tl

from zlbench_core.suite import base

IS_FAULTY = os.environ["ZL_AUTOTUNE_MODE"] == "record" and os.environ["ZL_SHARD"] == "1/2"
TIMES_MS = {16: 0.1, 64: 0.2}
timed = {"block": 0, "times": TIMES_MS}


def remember(args):
    timed["block"] = args["BLOCK"]


def from_table(call, quantiles):
    call()
    return [timed["times"][timed["block"]]] * 3


@triton.autotune(
    configs=[triton.Config({"BLOCK": block}, num_warps=4, pre_hook=remember) for block in TIMES_MS],
    key=["count"],
    do_bench=from_table,
)
@triton.jit
def scale_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 2.0, mask=mask)


def scale(x):
    out = torch.empty_like(x)
    scale_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel())
    return out


class Scale(base.Benchmark):
    SHAPES = ((1, 16), (1, 32), (1, 48), (1, 64))

    def set_shapes(self, shape_file):
        self.shapes = list(self.SHAPES)

    def get_input_iter(self, dtype):
        for place, shape in enumerate(self.shapes):
            self.before(place)
            yield (torch.randn(shape, dtype=dtype, device=self.device),)

    def before(self, place):
        """Called before each input is made."""


class Killed(Scale):
    def before(self, place):
        if IS_FAULTY and place == 3:
            os.kill(os.getpid(), signal.SIGKILL)


class Full(Scale):
    def before(self, place):
        if IS_FAULTY and place == 3:
            # No file may grow beyond this: what a full quota looks like to a process.
            resource.setrlimit(resource.RLIMIT_FSIZE, (500, resource.RLIM_INFINITY))


class Disagreeing(Scale):
    SHAPES = ((1, 64), (2, 32), (4, 16), (8, 8))  # one key for all


class Holed(Scale):
    def run(self):
        if IS_FAULTY:
            self.init_user_config()
            next(self.get_input_iter(self.to_bench_dtypes[0]))  # takes an item and tunes nothing
        else:
            super().run()


def benchmark(cls, name):
    cls(op_name=name, torch_op=lambda x: x * 2.0, op=scale).run()


def test_killed():
    benchmark(Killed, "killed")


def test_truncated():
    if IS_FAULTY:
        path = os.path.join(os.environ["ZL_OUT_DIR"], "records.json")
        atexit.register(lambda: os.truncate(path, os.path.getsize(path) // 2))
    benchmark(Scale, "truncated")


def test_full():
    benchmark(Full, "full")


def test_disagreeing():
    if IS_FAULTY:
        timed["times"] = dict(zip(TIMES_MS, reversed(TIMES_MS.values()), strict=True))
    benchmark(Disagreeing, "disagreeing")


def test_holed():
    benchmark(Holed, "holed")


class More(Scale):
    """Its shapes are set in code, at both levels; comprehensive walks the first ones twice."""

    def set_shapes(self, shape_file):
        super().set_shapes(shape_file)
        if self._is_comprehensive():
            self.shapes = [*self.shapes, (1, 80), (1, 96), *self.shapes[:2]]


class Product(base.BlasBenchmark):
    """The builtin class, whose comprehensive level walks every shape again, on a cheap kernel."""

    def tolerance(self, dtype, *args):
        return base.tolerance(dtype)


def test_several():
    """Three benchmarks in one process, and with them three ways to come to shapes."""
    benchmark(More, "more")
    Product(op_name="product", torch_op=lambda a, b: a * 2.0, op=lambda a, b: scale(a)).run()
    base.RowBenchmark(op_name="rows", torch_op=lambda x, dim: x * 2.0, op=lambda x, dim: scale(x)).run()
