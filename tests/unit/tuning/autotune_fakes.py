"""Stand-ins for what needs a GPU or a library: a jit function, a timer, a library's tuner and entry."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import triton
from triton.runtime._async_compile import AsyncCompileMode, active_mode
from triton.runtime.autotuner import Autotuner
from triton.runtime.errors import OutOfResources
from triton.runtime.jit import KernelInterface

# Of a compilation: one for its kernel, and since Triton 3.9 one for its failure.
CALLBACKS = len(inspect.signature(AsyncCompileMode.submit).parameters) - len(("self", "key", "compile_fn"))


class FakeJit:
    """What a JITFunction is to a tuner: source, function, run. Launches and compilations are kept."""

    def __init__(self, fn: Callable[..., Any], body: Callable[..., Any] | None = None) -> None:
        self.fn = fn
        self.src = inspect.getsource(fn)
        self.body = body
        self.launches: list[dict[str, Any]] = []
        self.compiled: list[dict[str, Any]] = []

    def run(self, *args: Any, grid: Any, warmup: bool, **meta: Any) -> str:
        if warmup:
            self.compiled.append(meta)
        else:
            self.launches.append(meta)
            if self.body is not None:
                self.body(*args, **meta)
        return "kernel"


def scale(x: Any, n: int, BLOCK: int) -> None:
    pass


def config(block: int, num_warps: int = 4, pre_hook: Any = None) -> triton.Config:
    return triton.Config({"BLOCK": block}, num_warps=num_warps, pre_hook=pre_hook)


class FakeBench:
    """A do_bench that calls the kernel and answers from a table, by the BLOCK that reached the kernel."""

    def __init__(self, jit: FakeJit, times_ms: dict[int, float]) -> None:
        self.jit = jit
        self.times_ms = times_ms
        self.asked: list[int] = []

    def __call__(self, kernel_call: Callable[[], None], quantiles: Any) -> list[float]:
        kernel_call()
        block = self.jit.launches[-1]["BLOCK"]
        self.asked.append(block)
        time_ms = self.times_ms[block]
        return [time_ms, time_ms * 0.999, time_ms * 1.001] if math.isfinite(time_ms) else [time_ms] * 3


class LibraryTuner(Autotuner):
    """A library's tuner with a run of its own, a persistent cache and a per-config benchmark cache."""

    def __init__(self, *args: Any, store: dict[Any, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.cache = {} if store is None else store
        self.benchmarks: dict[Any, list[float]] = {}
        self.benchmark_cache_hit_count = 0

    def get_key(self, args: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(math.ceil(args[name] / 32) * 32 for name in self.keys)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        self.benchmark_cache_hit_count = 0
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        if len(self.configs) > 1:
            key = self.get_key({**self.nargs, **kwargs})
            if key not in self.cache:
                timings = {one: self._timing(one, args, kwargs) for one in self.prune_configs(kwargs)}
                self.cache[key] = min(timings, key=timings.get)
                self.configs_timings = timings
            chosen = self.cache[key]
        else:
            chosen = self.configs[0]
        self.best_config = chosen
        if chosen.pre_hook is not None:
            chosen.pre_hook({**self.nargs, **kwargs, **chosen.all_kwargs()})
        return self.fn.run(*args, **kwargs, **chosen.all_kwargs())

    def _timing(self, one: triton.Config, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[float]:
        if one in self.benchmarks:
            self.benchmark_cache_hit_count += 1
            return self.benchmarks[one]
        self.benchmarks[one] = self._bench(*args, config=one, **kwargs)
        return self.benchmarks[one]


class UntimedTuner(Autotuner):
    """Triton's way since 3.9: the only config that pruning leaves is chosen before it is launched, and not timed."""

    def run(self, *args: Any, **kwargs: Any) -> Any:
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        key = (self.nargs["n"],)
        if key not in self.cache:
            pruned = self.prune_configs(kwargs)
            if len(pruned) == 1:
                self.cache[key] = pruned[0]
            else:
                self.configs_timings = {one: self._bench(*args, config=one, **kwargs) for one in pruned}
                self.cache[key] = min(self.configs_timings, key=self.configs_timings.get)
        self.best_config = self.cache[key]
        return self.fn.run(*args, **kwargs, **self.best_config.all_kwargs())


class BatchTuner(Autotuner):
    """Ascend's way: times all configs in one call; the only config that pruning leaves is not timed at all."""

    def run(self, *args: Any, **kwargs: Any) -> Any:
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        key = (self.nargs["n"],)
        if key in self.cache:
            chosen = self.cache[key]
        else:
            pruned = self.prune_configs(kwargs)
            chosen = pruned[0] if len(pruned) == 1 else self._tune(key, pruned, args, kwargs)
        self.best_config = chosen
        return self.fn.run(*args, **kwargs, **chosen.all_kwargs())

    def _tune(self, key: Any, pruned: list[triton.Config], args: Any, kwargs: Any) -> triton.Config:
        self.configs_timings = self._batch_bench(*args, configs=pruned, **kwargs)
        self.cache[key] = min(self.configs_timings, key=self.configs_timings.get)
        return self.cache[key]

    def _batch_bench(self, *args: Any, configs: list[triton.Config], **kwargs: Any) -> dict[Any, list[float]]:
        return {one: [self.do_bench.times_ms[one.kwargs["BLOCK"]]] * 3 for one in configs}


class LibraryEntry(KernelInterface):
    """A library's entry: from the second launch on, the compiled kernel is launched without the tuner."""

    def __init__(self, fn: Any) -> None:
        self.fn = fn
        self.kernels: dict[Any, tuple[Any, dict[str, Any]]] = {}

    def run(self, *args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        key = tuple(args[1:])
        if key not in self.kernels:
            kernel = self.fn.run(*args, **kwargs)
            chosen = self.fn.best_config
            constants = {"num_warps": chosen.num_warps, "num_stages": chosen.num_stages, **chosen.kwargs}
            self.kernels[key] = (kernel, constants)
        return self.kernels[key]


def make_tuner(
    times_ms: dict[int, float],
    *,
    cls: type = Autotuner,
    configs: list[triton.Config] | None = None,
    body: Callable[..., Any] | None = None,
    kernel: Callable[..., Any] = scale,
    jit: FakeJit | None = None,
    **options: Any,
) -> Any:
    """A tuner over one config per entry of `times_ms`, timed by a FakeBench that is its `do_bench`."""
    jit = jit or FakeJit(kernel, body)
    configs = configs or [config(block) for block in times_ms]
    bench = FakeBench(jit, times_ms)
    defaults: dict[str, Any] = {"reset_to_zero": None, "restore_value": None}
    return cls(jit, ["x", "n", "BLOCK"], configs, ["n"], do_bench=bench, **{**defaults, **options})


def launch(tuner: Any, x: Any, n: int) -> Any:
    return tuner.run(x, n, grid=(1,), warmup=False)


class AsyncJit(FakeJit):
    """A FakeJit that compiles as JITFunction does: through the asynchronous mode where one is active.

    A compilation leaves a file in `store`, which stands for the compiler's disk cache: its first line is the
    process that compiled, and a later compilation of the same block is a hit.
    """

    def __init__(self, fn: Callable[..., Any], store: Path, broken: frozenset[int] = frozenset()) -> None:
        super().__init__(fn)
        self.store = store
        self.broken = broken
        self.ready: dict[int, Any] = {}
        self.events: list[tuple[str, int]] = []

    def run(self, *args: Any, grid: Any, warmup: bool, **meta: Any) -> Any:
        block = meta["BLOCK"]
        kernel = self.ready.get(block) or self._compile(block)
        if not warmup:
            if hasattr(kernel, "result"):
                kernel.result()
            self.launches.append(meta)
            self.events.append(("launch", block))
        return kernel

    def _compile(self, block: int) -> Any:
        mode = active_mode.get()
        if mode is not None:
            callbacks = [lambda kernel: self._finish(block, kernel), lambda _future: None][:CALLBACKS]
            return mode.submit(str(block), lambda: self._build(block), *callbacks)
        return self._finish(block, self._build(block))

    def _build(self, block: int) -> str:
        if block in self.broken:
            raise OutOfResources(1, 0, "shared memory")
        path = self.store / str(block)
        if not path.exists():
            path.write_text(str(os.getpid()))
        return f"kernel {block}"

    def _finish(self, block: int, kernel: str) -> str:
        self.ready[block] = kernel
        self.events.append(("compiled", block))
        return kernel


class FakeDevice:
    """A device with a queue and a clock of its own: what is launched runs when the queue gets to it."""

    def __init__(self, host_ms: float = 0.1, clear_ms: float = 0.07) -> None:
        self.host_ms, self.clear_ms = host_ms, clear_ms
        self.now_ms = 0.0  # the host's clock
        self.busy_until_ms = 0.0
        self.launched = 0
        self.warm = False

    def run(self, host_ms: float, device_ms: float) -> None:
        self.now_ms += host_ms
        self.busy_until_ms = max(self.busy_until_ms, self.now_ms) + device_ms

    def kernel(self, time_ms: float, cold_factor: float = 1.0) -> Callable[[], None]:
        def launch() -> None:
            self.launched += 1
            self.run(self.host_ms, time_ms if self.warm else time_ms * cold_factor)
            self.warm = True

        return launch

    def clear(self) -> None:
        self.warm = False
        self.run(0.005, self.clear_ms)

    def clock(self) -> float:
        return self.now_ms / 1e3

    def synchronize(self) -> None:
        self.now_ms = max(self.now_ms, self.busy_until_ms)

    def Event(self, enable_timing: bool) -> FakeEvent:
        return FakeEvent(self)


class FakeEvent:
    def __init__(self, device: FakeDevice) -> None:
        self.device = device
        self.at_ms = 0.0

    def record(self) -> None:
        self.at_ms = max(self.device.busy_until_ms, self.device.now_ms)

    def query(self) -> bool:
        return self.at_ms <= self.device.now_ms

    def elapsed_time(self, end: FakeEvent) -> float:
        return end.at_ms - self.at_ms
