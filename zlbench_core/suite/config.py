"""What a run of the builtin suite was asked for: the options of its conftest, resolved once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

LEVELS = ("core", "comprehensive")
MODES = ("kernel", "operator", "wrapper", "cudagraph")
DTYPES = ("float16", "float32", "bfloat16")
RECORDS = ("none", "log", "json")
HERE = Path(__file__).parent

# Milliseconds. A call takes the interpreter about 10 ms, a GPU 0.01 ms; the interpreter needs no warm-up.
CPU_TIMES = (1, 30)
GPU_TIMES = (1000, 100)


@dataclass
class SuiteConfig:
    """Times in milliseconds; `dtypes` and `metrics` None means the operator's own."""

    device: str
    mode: str
    level: str
    warmup_ms: int
    iter_ms: int
    dtypes: list[torch.dtype] | None
    metrics: list[str] | None
    shape_file: Path
    measure: bool
    results: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def is_cpu(self) -> bool:
        return self.device == "cpu"


_current: SuiteConfig | None = None


def use(config: SuiteConfig) -> None:
    global _current
    _current = config


def current() -> SuiteConfig:
    """The configuration of this run. Raises RuntimeError before the suite's conftest has configured one."""
    if _current is None:
        raise RuntimeError(
            "the suite is not configured: its benchmarks run under pytest with zlbench_core/suite"
        )
    return _current


def default_times(device: str) -> tuple[int, int]:
    """(warmup, iter) in milliseconds for a torch device type."""
    return CPU_TIMES if device == "cpu" else GPU_TIMES


def default_shape_file(device: str) -> Path:
    return HERE / ("core_shapes_cpu.yaml" if device == "cpu" else "core_shapes.yaml")
