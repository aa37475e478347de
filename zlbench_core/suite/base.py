"""The benchmark classes of the builtin suite, in the manner of FlagGems' benchmark/base.py.

A test makes one object and calls run(). Each row is checked against float64 before it is timed.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import yaml

from zlbench_core.duet import announce
from zlbench_core.errors import ConfigError
from zlbench_core.suite import config as suite_config
from zlbench_core.suite.check import Tolerance, WrongResult, check_close, reference_device, tolerance, widened
from zlbench_core.suite.inputs import Inputs, seeded, shape_detail, split_inputs
from zlbench_core.suite.latency import NoLatency, latency_ms
from zlbench_core.suite.record import add_block, announce_failure
from zlbench_core.suite.report import DEFAULT_METRICS, NEEDS, Block, Row

FLOAT_DTYPES = [torch.float16, torch.float32, torch.bfloat16]

Shapes = tuple[tuple[int, ...], ...]


class Benchmark:
    """One operator: `torch_op` is the baseline and, on float64, the reference; `op` is what is tested."""

    DEFAULT_METRICS = DEFAULT_METRICS
    DEFAULT_DTYPES = FLOAT_DTYPES
    DEFAULT_SHAPES: Shapes = ((64, 64),)
    DEFAULT_SHAPE_DESC = "M, N"
    SHAPE_LENGTH: int | None = None  # None: any

    def __init__(
        self,
        op_name: str,
        torch_op: Callable[..., torch.Tensor],
        op: Callable[..., torch.Tensor],
        dtypes: list[torch.dtype] | None = None,
    ) -> None:
        self.op_name = op_name
        self.torch_op = torch_op
        self.op = op
        self.config = suite_config.current()
        self.device = self.config.device
        self.dtypes = dtypes or self.DEFAULT_DTYPES
        self.to_bench_dtypes = self.dtypes
        self.to_bench_metrics = list(self.DEFAULT_METRICS)
        self.shapes = list(self.DEFAULT_SHAPES)
        self.shape_desc = self.DEFAULT_SHAPE_DESC

    # What is benchmarked

    def init_user_config(self) -> None:
        """Resolve dtypes, metrics and shapes from the run's options; shards are cut after this."""
        self.set_dtypes(self.config.dtypes)
        self.set_metrics(self.config.metrics)
        self.set_shapes(self.config.shape_file)

    def set_dtypes(self, asked: list[torch.dtype] | None) -> None:
        unknown = [str(dtype) for dtype in asked or [] if dtype not in self.dtypes]
        if unknown:
            raise ValueError(f"dtype {', '.join(unknown)} of {self.op_name}; allowed: {self.dtypes}")
        self.to_bench_dtypes = asked or self.dtypes

    def set_metrics(self, asked: list[str] | None) -> None:
        default = [*self.DEFAULT_METRICS, *(self.set_more_metrics() if self._is_comprehensive() else [])]
        wanted = asked or default
        for metric in wanted:
            if metric not in default:
                raise ValueError(f"metric {metric} of {self.op_name}; allowed: {', '.join(default)}")
            missing = [needed for needed in NEEDS.get(metric, ()) if needed not in wanted]
            if missing:
                raise ValueError(f"metric {metric} of {self.op_name} needs also {', '.join(missing)}")
        self.to_bench_metrics = wanted

    def set_shapes(self, shape_file: Any) -> None:
        """Shapes of the operator, else of the nearest class named in the file; comprehensive adds more."""
        with open(shape_file, encoding="utf-8") as stream:
            table = yaml.safe_load(stream)
        if not isinstance(table, dict):
            raise ConfigError(f"shape file {shape_file}: a mapping of operators or classes is expected")
        names = [self.op_name, *(cls.__name__ for cls in type(self).__mro__)]
        entry: dict[str, Any] = next((table[name] for name in names if name in table), {})
        self.shape_desc = entry.get("shape_desc", self.DEFAULT_SHAPE_DESC)
        shapes = [tuple(shape) for shape in entry.get("shapes", self.DEFAULT_SHAPES)]
        more = self.set_more_shapes() if self._is_comprehensive() else []
        self.shapes = list(dict.fromkeys([*shapes, *more]))
        for shape in self.shapes:
            if self.SHAPE_LENGTH not in (None, len(shape)):
                raise ConfigError(f"shape {list(shape)} of {self.op_name}: {self.shape_desc} are expected")

    def set_more_shapes(self) -> list[tuple[int, ...]]:
        return []

    def set_more_metrics(self) -> list[str]:
        return []

    def get_input_iter(self, dtype: torch.dtype) -> Iterator[Inputs]:
        """Yield the arguments of one call per row; a dict among them holds keyword arguments."""
        raise NotImplementedError(f"{type(self).__name__} has no inputs")

    def get_flops(self, *args: Any) -> float:
        """Floating-point operations of one call."""
        raise NotImplementedError(f"{type(self).__name__} counts no operations")

    def get_bytes(self, *args: Any) -> int:
        """Bytes that one call moves at least."""
        raise NotImplementedError(f"{type(self).__name__} counts no bytes")

    # Is it right?

    def tolerance(self, dtype: torch.dtype, *args: Any) -> Tolerance:
        return tolerance(dtype)

    def reference(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        """The exact result, float64."""
        device = reference_device(self.device)
        wide = [widened(arg, device) for arg in args]
        return self.torch_op(*wide, **{name: widened(value, device) for name, value in kwargs.items()})

    def check(self, dtype: torch.dtype, *args: Any, **kwargs: Any) -> None:
        """Run the kernel once. Raises WrongResult when its result is not the reference's."""
        result = self.op(*args, **kwargs)
        name = f"{self.op_name} {dtype} {shape_detail(args, kwargs)}"
        check_close(name, result, self.reference(*args, **kwargs), dtype, self.tolerance(dtype, *args))

    # How fast is it?

    def get_latency(self, op: Callable[..., Any], *args: Any, **kwargs: Any) -> float:
        """Milliseconds of one call of `op`."""
        return latency_ms(lambda: op(*args, **kwargs), self.config)

    def check_first(self, dtype: torch.dtype, *args: Any, **kwargs: Any) -> None:
        """`check`, and where it fails a partner that would time the same row is told."""
        op = self.op
        try:
            self.check(dtype, *args, **kwargs)
        except Exception as error:
            announce.row_lost(lambda: op(*args, **kwargs), error)
            raise

    def measure(self, dtype: torch.dtype, row: Row, *args: Any, **kwargs: Any) -> None:
        """Check, then fill the row's metrics."""
        if not self.config.measure:
            self.op(*args, **kwargs)
            return
        self.check_first(dtype, *args, **kwargs)
        wanted = self.to_bench_metrics
        if "latency_base" in wanted:
            row.latency_base = self.get_latency(self.torch_op, *args, **kwargs)
        if "latency" in wanted:
            row.latency = self.get_latency(self.op, *args, **kwargs)
            self._fill(row, row.latency, row.latency_base, args)

    def _fill(self, row: Row, latency: float, latency_base: float | None, args: tuple[Any, ...]) -> None:
        """What follows from the latencies: all of it needs the tested operator's own (NEEDS)."""
        wanted = self.to_bench_metrics
        if "speedup" in wanted and latency_base is not None:
            row.speedup = latency_base / latency
        if "tflops" in wanted:
            row.tflops = self.get_flops(*args) / latency * 1e-9
        if "gbps" in wanted:
            amount = self.get_bytes(*args) * 1e-6
            row.gbps = amount / latency
            row.gbps_base = amount / latency_base if latency_base else None

    def run(self) -> None:
        """Benchmark every dtype and shape. A wrong result fails its row and the test; other rows still run. A row
        that a partner lost has no latency, and is no mistake of this side's.

        Any other error ends the test: on a device, what follows it cannot be trusted.
        """
        self.init_user_config()
        wrong = [message for dtype in self.to_bench_dtypes for message in self._run_dtype(dtype)]
        if wrong:
            pytest.fail("; ".join(wrong), pytrace=False)

    def _run_dtype(self, dtype: torch.dtype) -> list[str]:
        rows: list[Row] = []
        try:
            for inputs in seeded(self.get_input_iter(dtype)):
                args, kwargs = split_inputs(inputs)
                rows.append(Row(shape_detail=shape_detail(args, kwargs)))
                self._run_row(dtype, rows[-1], *args, **kwargs)
        finally:
            if rows:
                add_block(Block(self.op_name, str(dtype), self.config.mode, self.config.level, rows))
        return [row.error_msg for row in rows if row.error_msg]

    def _run_row(self, dtype: torch.dtype, row: Row, *args: Any, **kwargs: Any) -> None:
        try:
            self.measure(dtype, row, *args, **kwargs)
        except NoLatency:
            pass  # the timer has said why, in the log and in the identity
        except Exception as error:
            row.error_msg = " ".join(str(error).split()) or type(error).__name__
            announce_failure(self.op_name, str(dtype), row.error_msg)
            if not isinstance(error, WrongResult):
                raise
        finally:
            if self.config.measure:
                gc.collect()

    def _is_comprehensive(self) -> bool:
        return self.config.level == "comprehensive"


class BlasBenchmark(Benchmark):
    """Matrix products; shapes are (batch, m, n, k). Comprehensive runs each shape again with b transposed."""

    DEFAULT_METRICS = (*DEFAULT_METRICS, "tflops")
    DEFAULT_SHAPE_DESC = "B, M, N, K"
    SHAPE_LENGTH = 4
    DEFAULT_SHAPES: Shapes = ((1, 64, 64, 64),)

    def set_more_shapes(self) -> list[tuple[int, ...]]:
        # Odd sizes and a wide, flat product: masks, and other specialisations than multiples of 16.
        if self.config.is_cpu:
            return [(2, 33, 45, 70), (1, 1, 128, 96)]
        return [(2, 1023, 1025, 1000), (4, 1, 4096, 4096), (1, 8192, 512, 4096)]

    def get_input_iter(self, dtype: torch.dtype) -> Iterator[Inputs]:
        for transposed in (False, True) if self._is_comprehensive() else (False,):
            for batch, m, n, k in self.shapes:
                yield self.operands(batch, m, n, k, dtype, transposed)

    def operands(self, batch: int, m: int, n: int, k: int, dtype: torch.dtype, transposed: bool) -> Inputs:
        """a of [m, k] and b of [k, n], b stored column by column where `transposed`."""
        a = torch.randn((m, k), dtype=dtype, device=self.device)
        b_shape = (n, k) if transposed else (k, n)
        b = torch.randn(b_shape, dtype=dtype, device=self.device)
        return a, b.t() if transposed else b

    def get_flops(self, a: torch.Tensor, b: torch.Tensor) -> float:
        return 2.0 * a.numel() * b.shape[-1]

    def tolerance(self, dtype: torch.dtype, *args: Any) -> Tolerance:
        return tolerance(dtype, terms=args[0].shape[-1], is_dot=True)


class RowBenchmark(Benchmark):
    """Operators along the last axis of a tensor."""

    def set_more_metrics(self) -> list[str]:
        return ["gbps"]

    def set_more_shapes(self) -> list[tuple[int, ...]]:
        if self.config.is_cpu:
            return [(5, 300), (2, 7, 33)]
        return [(1024, 1000), (16, 131072), (64, 512, 513)]

    def get_input_iter(self, dtype: torch.dtype) -> Iterator[Inputs]:
        for shape in self.shapes:
            yield torch.randn(shape, dtype=dtype, device=self.device), len(shape) - 1

    def get_bytes(self, x: torch.Tensor, *rest: Any) -> int:
        return 2 * x.numel() * x.element_size()


class PointwiseBenchmark(Benchmark):
    """Two tensors of one shape."""

    DEFAULT_METRICS = (*DEFAULT_METRICS, "tflops")

    def set_more_shapes(self) -> list[tuple[int, ...]]:
        return [(7, 11), (3, 5, 17)] if self.config.is_cpu else [(1000, 1001), (64, 64, 4097)]

    def get_input_iter(self, dtype: torch.dtype) -> Iterator[Inputs]:
        for shape in self.shapes:
            yield tuple(torch.randn(shape, dtype=dtype, device=self.device) for _ in range(2))

    def get_flops(self, x: torch.Tensor, *rest: Any) -> float:
        return float(x.numel())
