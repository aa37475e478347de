"""What is compiled for the coming data types, and that it is what the tuner then meets."""

from __future__ import annotations

import os
import threading

import pytest
import torch
import triton
import triton.language as tl
from triton.runtime._async_compile import active_mode
from triton.runtime.driver import driver
from triton.tools.tensor_descriptor import TensorDescriptor

from tests.unit.tuning.autotune_fakes import AsyncJit, config, make_tuner, scale
from zlbench_core.backends.cpu_driver import CpuDriver
from zlbench_core.tuning import compile_ahead
from zlbench_core.tuning.compile_ahead import Ahead, Settings
from zlbench_core.tuning.fork_pool import ForkExecutor
from zlbench_core.tuning.prefetch import Prefetch, lock_of, stand_ins

TIMES = {16: 0.8, 32: 0.30, 64: 0.10}
FORK = Settings(3, "fork", early_drop=False)
PLACE = {torch.float16: 0, torch.float32: 1000, torch.bfloat16: 2000}
META = {"grid": (1,), "warmup": False}


class TypedJit(AsyncJit):
    """One binary per block and data type of the first argument."""

    def run(self, x, *args, **meta):
        return super().run(x, *args, **{**meta, "BLOCK": meta["BLOCK"] + PLACE[x.dtype]})


@pytest.fixture
def submitted(monkeypatch):
    """What the keys' own pools were asked to compile."""
    asked = []

    class Watched(ForkExecutor):
        def submit_once(self, fn, lock):
            asked.append(fn)
            return super().submit_once(fn, lock)

    monkeypatch.setattr(compile_ahead, "make_executor", lambda settings: Watched(settings.children))
    return asked


@pytest.fixture
def ahead_of():
    made = []

    def make(dtypes, settings=FORK) -> Ahead:
        made.append(Ahead(settings))
        made[-1].prefetch.dtypes = dtypes
        return made[-1]

    yield make
    for ahead in made:
        ahead.prefetch.close()


def tune(ahead: Ahead, tuner, dtype) -> None:
    ahead.prepare(tuner, (torch.empty(64, dtype=dtype), 64), META, tuner.configs)


def test_the_next_types_configs_are_compiled_by_children_before_its_first_key(ahead_of, tmp_path, submitted):
    tuner = make_tuner(TIMES, jit=TypedJit(scale, tmp_path))
    ahead = ahead_of([torch.float16, torch.float32, torch.bfloat16])
    tune(ahead, tuner, torch.float16)
    assert len(submitted) == len(TIMES)
    tune(ahead, tuner, torch.float32)
    tune(ahead, tuner, torch.bfloat16)
    assert len(submitted) == len(TIMES), "nothing was left to compile"
    assert sorted(tuner.fn.ready) == sorted(block + place for block in TIMES for place in PLACE.values())
    assert os.getpid() not in {int(path.read_text()) for path in tmp_path.iterdir()}


def test_a_type_that_was_not_foreseen_is_compiled_as_ever(ahead_of, tmp_path, submitted):
    tuner = make_tuner(TIMES, jit=TypedJit(scale, tmp_path))
    ahead = ahead_of([torch.float16, torch.float32])
    tune(ahead, tuner, torch.float16)
    tune(ahead, tuner, torch.bfloat16)
    assert len(submitted) == 2 * len(TIMES)


def test_what_is_refused_ahead_is_refused_where_the_tuner_meets_it(ahead_of, tmp_path, record):
    jit = TypedJit(scale, tmp_path, broken=frozenset({1064}))
    typed = TIMES | {block + 1000: ms for block, ms in TIMES.items()}
    tuner = make_tuner(typed, jit=jit, configs=[config(block) for block in TIMES])
    ahead = ahead_of([torch.float16, torch.float32])
    recorder = record(ahead=ahead)
    for dtype in ahead.prefetch.dtypes:
        tuner.run(torch.empty(64, dtype=dtype), 64, **META)
    assert [entry.winner["kwargs"]["BLOCK"] for entry in recorder.entries] == [64, 32]
    assert recorder.entries[1].n_finite == 2


@pytest.mark.parametrize(
    "settings", [Settings(3, "fork", False, prefetch=False), Settings(3, "threads", False)]
)
def test_without_forked_children_or_turned_off_nothing_is_compiled_for_the_next_type(
    ahead_of, tmp_path, settings
):
    tuner = make_tuner(TIMES, jit=TypedJit(scale, tmp_path))
    ahead = ahead_of([torch.float16, torch.float32], settings)
    tune(ahead, tuner, torch.float16)
    ahead.prefetch.close()
    assert {int(path.name) for path in tmp_path.iterdir()} == set(TIMES)


@pytest.mark.parametrize("dtypes", [(), (torch.float32,), (torch.int8, torch.float32)])
def test_tensors_that_are_of_no_type_of_the_benchmark_foretell_nothing(dtypes):
    prefetch = Prefetch(2, lambda: None)
    prefetch.dtypes = dtypes
    args = (torch.empty(4, dtype=torch.float16), 4)
    prefetch.start(make_tuner(TIMES), args, META, [], warm=lambda *_: pytest.fail("nothing to warm"))


def test_only_tensors_of_the_current_type_are_replaced():
    index, half = torch.zeros(3, dtype=torch.int64), torch.zeros(3, dtype=torch.float16)
    args, kwargs = stand_ins((index, half, 3), {"out": half, "n": 7}, torch.float16, torch.float32)
    assert (args[0] is index, args[1].dtype, args[2]) == (True, torch.float32, 3)
    assert (kwargs["out"].dtype, kwargs["n"]) == (torch.float32, 7)


def test_children_that_are_still_at_it_end_with_the_run(ahead_of, tmp_path, left_children):
    here = os.getpid()

    class Endless(TypedJit):
        def _build(self, block):
            if os.getpid() != here and block > 1000:
                threading.Event().wait()
            return super()._build(block)

    tuner = make_tuner(TIMES, jit=Endless(scale, tmp_path))
    ahead = ahead_of([torch.float16, torch.float32])
    tune(ahead, tuner, torch.float16)
    ahead.prefetch.close()
    assert left_children() == set()


@triton.jit
def double(x, n, dtype: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, 2 * tl.load(x + at, at < n), at < n)


@triton.jit
def double_described(x, n, dtype: tl.constexpr, BLOCK: tl.constexpr):
    x.store([0, 0], 2 * x.load([0, 0]))


def described(tensor):
    return TensorDescriptor(tensor, tensor.shape, tensor.stride(), [8, 8])


@pytest.mark.parametrize(("kernel", "form"), [(double, lambda tensor: tensor), (double_described, described)])
def test_the_compiler_knows_a_real_tensors_kernel_by_its_stand_ins_key(monkeypatch, kernel, form):
    """With the real compiler and no device: the key of what would be compiled."""
    keys = []
    spy = type("Spy", (), {"submit": lambda self, key, *_: keys.append(key)})()
    monkeypatch.setattr(driver, "_active", CpuDriver("cuda:90"))
    half = torch.empty(8, 8, dtype=torch.float16)
    real = [(form(half), "float16"), (form(half.float()), "float32")]
    (other,), name = stand_ins((real[0][0],), {"dtype": "float16"}, torch.float16, torch.float32)
    active_mode.set(spy)
    try:
        for argument, dtype in (*real, (other, name["dtype"])):
            kernel.run(argument, 64, dtype=dtype, BLOCK=64, grid=(1,), warmup=True)
    finally:
        active_mode.set(None)
    assert keys[1] == keys[2] != keys[0]


def test_locks_lie_in_the_cache_of_the_run_and_never_in_the_users_own(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    one, other = lock_of("one"), lock_of("other")
    assert one != other
    assert one.parent == other.parent == tmp_path / "cache" / "zlbench-locks"
    monkeypatch.delenv("TRITON_CACHE_DIR")
    assert lock_of("one") is None
