"""The latency of one call in each of the modes that FlagGems' benchmarks know."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import triton

from zlbench_core.suite.config import SuiteConfig

PROBE_CALLS = 5


class NoLatency(RuntimeError):
    """The timer says that there is no measurement (nan): this row is lost, and nothing else is wrong."""


def latency_ms(call: Callable[[], Any], config: SuiteConfig) -> float:
    """Milliseconds of one call. Raises NoLatency for nan, RuntimeError for what else is no positive number."""
    if config.mode == "kernel":
        value = _kernel(call, config)
    elif config.mode == "cudagraph":
        value = triton.testing.do_bench_cudagraph(
            call, rep=config.iter_ms, return_mode="median", grad_to_none=None
        )
    else:
        value = _host(call, config, waits=config.mode == "operator")
    if math.isnan(value):
        raise NoLatency
    if not (math.isfinite(value) and value > 0):
        raise RuntimeError(f"no measurement: the timer of mode {config.mode} returned {value}")
    return value


def _kernel(call: Callable[[], Any], config: SuiteConfig) -> float:
    # Looked up now, not at import: the timing plugin replaces it.
    return triton.testing.do_bench(
        call, warmup=config.warmup_ms, rep=config.iter_ms, return_mode="median", grad_to_none=None
    )


def _host(call: Callable[[], Any], config: SuiteConfig, waits: bool) -> float:
    probe = _mean_ms(call, PROBE_CALLS, waits)
    _mean_ms(call, max(1, int(config.warmup_ms / probe)), waits)
    return _mean_ms(call, max(1, int(config.iter_ms / probe)), waits)


def _mean_ms(call: Callable[[], Any], count: int, waits: bool) -> float:
    """Mean milliseconds of a call on the host's clock; `waits` includes the device's work."""
    synchronize = triton.runtime.driver.active.get_device_interface().synchronize
    synchronize()
    start = time.perf_counter()
    for _ in range(count):
        call()
    if waits:
        synchronize()
    elapsed = time.perf_counter() - start
    synchronize()
    return elapsed / count * 1e3
