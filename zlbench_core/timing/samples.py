"""What a timed call is asked for, and the numbers that may come of it: positive, finite, or none at all."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from zlbench_core.errors import ZlbenchError

CUDA_GRAPH = "cuda_graph"
DIRECT = "direct"
_MODES: dict[str, Callable[[Sequence[float]], float]] = {
    "min": min,
    "max": max,
    "mean": statistics.mean,
    "median": statistics.median,
}


class NoMeasurement(ZlbenchError):
    """A timer gave something that is no time. There is no number to go on with."""


@dataclass(frozen=True)
class TimedRequest:
    """One call of a benchmark's timer: `warmup` and `rep` are budgets in ms, as upstream takes them."""

    fn: Callable[[], Any]
    warmup: float = 25
    rep: float = 100
    grad_to_none: Sequence[Any] | None = None
    quantiles: Sequence[float] | None = None
    return_mode: str = "mean"

    @property
    def wants_sequence(self) -> bool:
        """Several quantiles, or every sample: such a result is no single latency."""
        return self.return_mode == "all" if self.quantiles is None else len(self.quantiles) > 1


@dataclass(frozen=True)
class Samples:
    """What a timer measured: ms per call, `batch` calls between two events."""

    timer: str
    values_ms: tuple[float, ...]
    flush_l2: bool
    batch: int = 1


def checked(samples: Samples) -> Samples:
    """The samples, every one of them a positive finite time. Raises NoMeasurement otherwise."""
    if not samples.values_ms:
        raise NoMeasurement(f"no measurement: the {samples.timer} timer gave no sample")
    for value in samples.values_ms:
        if not (math.isfinite(value) and value > 0):
            raise NoMeasurement(f"no measurement: the {samples.timer} timer gave {value} ms")
    return samples


def summarise(values: Sequence[float], request: TimedRequest) -> Any:
    """What the caller asked for, by upstream's rules (triton/testing.py): quantiles first, else the mode.

    Raises ValueError for a mode that upstream does not know.
    """
    if request.quantiles is not None:
        found = [_quantile(sorted(values), q) for q in request.quantiles]
        return found[0] if len(found) == 1 else found
    if request.return_mode == "all":
        return list(values)
    if request.return_mode not in _MODES:
        raise ValueError(f"return_mode {request.return_mode!r}: min, max, mean, median or all is expected")
    return _MODES[request.return_mode](values)


def _quantile(ordered: Sequence[float], q: float) -> float:
    """The q-quantile of ascending values, linear between neighbours."""
    if not 0 <= q <= 1:
        raise ValueError(f"quantile {q}: a value from 0 to 1 is expected")
    point = q * (len(ordered) - 1)
    low, high = math.floor(point), math.ceil(point)
    return ordered[low] + (ordered[high] - ordered[low]) * (point - low)
