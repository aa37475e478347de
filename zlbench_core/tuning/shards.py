"""Walk only a shard's items of a benchmark, split where the benchmark has resolved its dtypes and shapes.

A benchmark class resolves dtypes and shapes in `init_user_config` and then walks `get_input_iter(dtype)`.
Every shard lets the iterator run as the serial sweep would and keeps its own inputs: so the union is exact
whatever the class does with its shapes, and each input is made as in the serial sweep.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from zlbench_core.pins.coverage import Plan, benchmark_plan
from zlbench_core.pins.keys import canonical
from zlbench_core.tuning.claims import Claims
from zlbench_core.tuning.tuners import Patches

_METHODS = ("run", "init_user_config", "get_input_iter")


@dataclass(frozen=True)
class Split:
    """How `n_dtypes` times `n_shapes` items fall to `count` shards: in runs, so that a dtype, whose first key
    compiles all configs, falls to as few shards as can be."""

    n_dtypes: int
    n_shapes: int
    count: int

    def owner(self, dtype_index: int, item: int) -> int:
        """The shard of a dtype's item. A second round over the shapes stays with their owners."""
        width = max(1, self.n_shapes)
        place = dtype_index * width + item % width
        return place * self.count // (max(1, self.n_dtypes) * width)

    def owns_dtype(self, shard: int, dtype_index: int) -> bool:
        return any(self.owner(dtype_index, item) == shard for item in range(max(1, self.n_shapes)))


def benchmark_classes() -> Iterator[type]:
    """The class `Benchmark` of every imported module named base that has a benchmark's methods."""
    for name, module in list(sys.modules.items()):
        cls = getattr(module, "Benchmark", None) if name.rpartition(".")[2] == "base" else None
        if isinstance(cls, type) and all(callable(getattr(cls, method, None)) for method in _METHODS):
            yield cls


class Sharding:
    """Splits every benchmark object of this process, and keeps the plan that the merge checks."""

    def __init__(
        self,
        shard: tuple[int, int],
        plan: Plan,
        resolved: Callable[[list[Any]], None] = lambda dtypes: None,
        claims: Claims | None = None,
    ) -> None:
        self.index, self.count = shard
        self.plan = plan
        self._claims = claims  # of shards that run at once; without them the split is fixed
        self._resolved = resolved  # told the data types that a benchmark is about to walk

    def patch(self, patches: Patches) -> None:
        for cls in benchmark_classes():
            patches.wrap(cls, "__init__", self._wrap_init)

    def _wrap_init(self, original: Any) -> Any:
        def __init__(benchmark: Any, *args: Any, **kwargs: Any) -> None:
            original(benchmark, *args, **kwargs)
            # On the object, in front of every subclass: what they resolve is then final.
            resolve = benchmark.init_user_config
            benchmark.init_user_config = lambda: self._resolve(benchmark, resolve)

        return __init__

    def _resolve(self, benchmark: Any, resolve: Callable[[], None]) -> None:
        resolve()
        dtypes, shapes = list(benchmark.to_bench_dtypes), list(benchmark.shapes or [])
        split = Split(len(dtypes), len(shapes), self.count)
        part = benchmark_plan(
            str(benchmark.op_name),
            [str(dtype) for dtype in dtypes],
            [canonical(shape) for shape in shapes],
            (self.index, self.count),
        )
        self.plan.append(part)
        if self._claims is None:
            benchmark.to_bench_dtypes = [
                dtype for place, dtype in enumerate(dtypes) if split.owns_dtype(self.index, place)
            ]
        number = len(self.plan)

        def is_mine(dtype: Any, item: int) -> bool:
            if self._claims is not None:
                return self._claims.take(f"{number} {part['digest']} {dtype} {item}")
            return split.owner(dtypes.index(dtype), item) == self.index

        self._resolved(list(benchmark.to_bench_dtypes))
        iterate = type(benchmark).get_input_iter
        benchmark.get_input_iter = lambda dtype: _walk(
            part, str(dtype), partial(is_mine, dtype), iterate(benchmark, dtype)
        )


def _walk(
    part: dict[str, Any], dtype: str, is_mine: Callable[[int], bool], inputs: Iterator[Any]
) -> Iterator[Any]:
    """Yield this shard's inputs. When none is its own, the last one: no table may end empty."""
    walked: dict[str, Any] = {"total": 0, "mine": [], "finished": False}
    part["walked"][dtype] = walked
    spare = None
    for item, made in enumerate(inputs):
        walked["total"] = item + 1
        if is_mine(item):
            walked["mine"].append(item)
            yield made
        spare = None if walked["mine"] else made
        made = None  # a skipped input must not live on while the next one is made
    if walked["total"] and not walked["mine"]:
        walked["mine"].append(walked["total"] - 1)
        yield spare
    walked["finished"] = True
