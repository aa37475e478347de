"""Compile for the data types that come next, at low priority, while this process times what is ready.

A benchmark walks the same shapes for one data type after the other, and the first key of a type compiles all its
configs again: on an H200 nearly all of mm's tuning. So the configs are compiled for the coming types as soon as a
first key shows the kernel's arguments, tensors replaced by stand-ins of the other type. A wrong guess costs
processor time and nothing else: what is used is looked up by the compiler's own cache key.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from copy import copy
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from zlbench_core.pins.keys import kernel_id
from zlbench_core.tuning.fork_pool import ForkExecutor

NICENESS = 19  # what this key waits for, and its timing, come first
LOCKS = "zlbench-locks"

Warm = Callable[[tuple[Any, ...], dict[str, Any], Any], Any]


class Prefetch:
    """Compilations under way, by the compiler's cache key."""

    def __init__(self, workers: int, before: Callable[[], None]) -> None:
        self.dtypes: Sequence[Any] = ()  # of the benchmark that runs, in its order
        self._workers, self._before = workers, before
        self._known: dict[str, tuple[Future[Any], ForkExecutor]] = {}
        self._pools: list[ForkExecutor] = []
        self._started: set[tuple[str, Any]] = set()

    def find(self, key: str) -> Future[Any] | None:
        return self._known[key][0] if key in self._known else None

    def settled(self, futures: Iterable[Future[Any]]) -> Iterator[Future[Any]]:
        """Those of `futures` that are compiled here, each as it gets ready."""
        pools = dict(self._known.values())
        waiting = {future for future in futures if future in pools}
        for future in [one for one in waiting if one.done()]:
            waiting.discard(future)
            yield future
        while waiting:
            for future in pools[next(iter(waiting))].settled():
                if future in waiting:
                    waiting.discard(future)
                    yield future
                    break

    def start(
        self, tuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], configs: list[Any], warm: Warm
    ) -> None:
        """Begin with the configs of every data type behind that of `args`. Does nothing where there is none."""
        current = self._current(args, kwargs)
        if current is None or (kernel_id(tuner), current) in self._started:
            return
        coming = list(self.dtypes)[list(self.dtypes).index(current) + 1 :]
        self._started |= {(kernel_id(tuner), dtype) for dtype in [current, *coming]}
        pool = ForkExecutor(self._workers, self._lower)
        with _Collecting(self, pool):
            for dtype in coming:
                other = stand_ins(args, kwargs, current, dtype)
                for config in configs:
                    _attempt(partial(warm, *other, config))
        pool.start()
        self._pools.append(pool)

    def close(self) -> None:
        """End the children, whatever they are at."""
        for pool in self._pools:
            pool.abandon()

    def keep(self, key: str, future: Future[Any], pool: ForkExecutor) -> None:
        self._known[key] = (future, pool)

    def _current(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any | None:
        """The data type of the benchmark that the tensors have, when it is one alone."""
        tensors = [tensor for value in (*args, *kwargs.values()) if (tensor := _tensor_of(value)) is not None]
        used = {tensor.dtype for tensor in tensors}
        found = [dtype for dtype in self.dtypes if dtype in used]
        return found[0] if len(found) == 1 else None

    def _lower(self) -> None:
        os.nice(NICENESS)
        self._before()


def stand_ins(
    args: tuple[Any, ...], kwargs: dict[str, Any], current: Any, dtype: Any
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """`args` and `kwargs` as they would be for `dtype`: stand-ins for tensors and descriptors of type `current`,
    and the other type's name where a string names `current`."""
    from triton.runtime.jit import MockTensor

    def swapped(value: Any) -> Any:
        tensor = _tensor_of(value)
        if tensor is None:
            return name_of(dtype) if isinstance(value, str) and value == name_of(current) else value
        if tensor.dtype != current:
            return value
        if tensor is value:
            return MockTensor(dtype)
        other = copy(value)  # a descriptor; its own checks want a real tensor
        other.base = MockTensor(dtype)
        return other

    return tuple(map(swapped, args)), {name: swapped(value) for name, value in kwargs.items()}


def name_of(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]


def _tensor_of(value: Any) -> Any | None:
    """The tensor that `value` is, or that it describes."""
    for one in (value, getattr(value, "base", None)):
        if hasattr(one, "data_ptr") and hasattr(one, "dtype"):
            return one
    return None


def _attempt(warm: Callable[[], Any]) -> None:
    try:
        warm()
    except Exception:
        # What cannot be compiled ahead is compiled, or refused, where the tuner meets it.
        return


class _Collecting:
    """Stands where the compiler's asynchronous mode would, and waits for nothing at its end."""

    def __init__(self, prefetch: Prefetch, pool: ForkExecutor) -> None:
        self._prefetch, self._pool = prefetch, pool

    def submit(self, key: str, compile_fn: Callable[[], Any], *_callbacks: Callable[..., Any]) -> None:
        if self._prefetch.find(key) is None:
            future = self._pool.submit_once(compile_fn, lock_of(key))
            self._prefetch.keep(key, future, self._pool)

    def __enter__(self) -> None:
        from triton.runtime._async_compile import active_mode

        self._outer = active_mode.set(self)

    def __exit__(self, *_: object) -> None:
        from triton.runtime._async_compile import active_mode

        active_mode.reset(self._outer)


def shared_mode(base: type, prefetch: Prefetch) -> type:
    """The compiler's asynchronous mode `base`, which takes from `prefetch` what is under way there."""
    from triton.runtime._async_compile import FutureKernel

    class SharedMode(base):
        # One callback to finalise; since Triton 3.9 another to clean up.
        def submit(self, key: str, compile_fn: Callable[[], Any], *callbacks: Callable[..., Any]) -> Any:
            if key in self.future_kernels:
                return self.future_kernels[key]
            future = prefetch.find(key) or _submitted(self.executor, key, compile_fn)
            # By which the mode's end finds the kernel; Triton's own submit sets it too.
            future._key = key  # type: ignore[attr-defined]
            self.raw_futures.append(future)
            kernel = self.future_kernels[key] = FutureKernel(*callbacks, future)
            return kernel

    return SharedMode


def _submitted(executor: Executor, key: str, compile_fn: Callable[[], Any]) -> Future[Any]:
    if isinstance(executor, ForkExecutor):
        return executor.submit_once(compile_fn, lock_of(key))
    return executor.submit(compile_fn)


def lock_of(key: str) -> Path | None:
    """The lock of one compilation, in a compiler's cache that was named for this run; shards of a record share it."""
    cache = os.environ.get("TRITON_CACHE_DIR")
    if not cache:
        return None
    folder = Path(cache) / LOCKS
    folder.mkdir(parents=True, exist_ok=True)
    return folder / sha256(key.encode()).hexdigest()
