"""The Triton driver of the cpu backend: real compilation for a named GPU, execution by Triton's interpreter.

`activate("cuda:90")` makes every @triton.jit kernel of this process compile for that GPU with the real
compiler, down to cubin or hsaco, with no GPU present. A launch then runs the kernel's own source through the
interpreter on CPU tensors. Times are the interpreter's, and results are IEEE: a dot does not round its inputs
to tf32.

Written against Triton 3.2 to 3.6 by what they offer, not by their version; tried with 3.6.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zlbench_core.backends import compile_only, cpu_clock
from zlbench_core.backends.cpu_target import DEFAULT_TARGET, device_properties, parse_target
from zlbench_core.errors import ConfigError
from zlbench_core.records.run_env import TARGET, RunEnv

if TYPE_CHECKING:
    import torch
    from triton.backends.compiler import GPUTarget

__all__ = ["DEFAULT_TARGET", "CpuDriver", "activate", "active_target", "parse_target"]

FLUSH_BYTES = 4 * 1024 * 1024
_NEEDED = ("ASTTransformer", "InterpreterBuilder", "_implicit_cvt", "_patch_lang", "interpreter_builder")

_active: CpuDriver | None = None


class CpuDriver:
    """What Triton asks of an active driver, for one target and one pretended device 0."""

    def __init__(self, target: str) -> None:
        from zlbench_core.backends.cpu_launch import InterpreterLauncher

        self.target = target
        self.utils = _Utils(target)
        self.launcher_cls = InterpreterLauncher
        self._gpu_target = parse_target(target)
        self._interface = cpu_clock.DeviceInterface()

    @classmethod
    def is_active(cls) -> bool:
        return _active is not None

    def get_current_target(self) -> GPUTarget:
        return self._gpu_target

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        self._interface.set_device(device)

    def get_current_stream(self, device: int | None = None) -> int:
        return cpu_clock.Stream.cuda_stream

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        arch = self._gpu_target.arch
        return divmod(arch, 10) if isinstance(arch, int) else (0, 0)

    def get_active_torch_device(self) -> torch.device:
        import torch

        return torch.device("cpu")

    def get_device_interface(self) -> cpu_clock.DeviceInterface:
        return self._interface

    def get_benchmarker(self) -> Callable[..., Any]:
        return cpu_clock.benchmark

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        import torch

        return torch.empty(FLUSH_BYTES, dtype=torch.int8)

    def clear_cache(self, cache: torch.Tensor) -> None:
        cache.zero_()

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The C++ type of a kernel argument, from the driver of the target's vendor."""
        from importlib import import_module

        vendor = {"cuda": "nvidia", "hip": "amd"}[self._gpu_target.backend]
        return import_module(f"triton.backends.{vendor}.driver").ty_to_cpp(ty)

    def assemble_tensormap_to_arg(self, tensormaps_info: Any, args: Any) -> Any:
        return args


class _Utils:
    """Properties of the target's chip, and the loading of a binary that is never run."""

    def __init__(self, target: str) -> None:
        self._properties = device_properties(target)

    def get_device_properties(self, device: int) -> dict[str, Any]:
        return dict(self._properties)

    def load_binary(self, name: str, kernel: bytes, shared: int, device: int) -> tuple[Any, ...]:
        """(module, function, registers, spills), and a block's threads where this Triton asks for them."""
        from triton.compiler.compiler import CompiledKernel

        loaded = (f"module of {name}", f"function {name}", 0, 0)
        asks_threads = "n_max_threads" in CompiledKernel._init_handles.__code__.co_names
        return (*loaded, 1024) if asks_threads else loaded


def activate(target: str | None) -> None:
    """Make this process compile for `target` and interpret what it launches. Idempotent.

    None means the target that is active, else DEFAULT_TARGET. With ZL_MEASURE=0 launches do nothing after
    compiling. Raises ConfigError for an unknown target, for a second target in one process (what is compiled
    keeps the first), and where the installed Triton cannot do it.
    """
    global _active
    wanted = target or (_active.target if _active else DEFAULT_TARGET)
    if _active is None:
        driver = CpuDriver(_checked(wanted))
        _install(driver)
        _active = driver
    elif _active.target != wanted:
        raise ConfigError(
            f"{TARGET} {wanted!r}: this process already compiles for {_active.target!r}; allowed: one target"
        )


def active_target() -> str | None:
    """The target that this process compiles for; None where the cpu driver is not active."""
    return _active.target if _active else None


def _install(driver: CpuDriver) -> None:
    from triton.runtime import driver as drivers

    from zlbench_core.backends.cpu_interpreter import lock_compiler

    lock_compiler()
    if not RunEnv.read().measure:
        compile_only.disable_launches(driver)
    drivers.set_active(driver)


def _checked(target: str) -> str:
    try:
        parse_target(target)
        from triton.runtime import interpreter
    except ImportError as error:
        raise ConfigError(f"the cpu backend needs triton in {sys.executable}: {error}") from None
    if os.environ.get("TRITON_INTERPRET", "0").lower() in ("1", "true", "on", "yes", "y"):
        raise ConfigError("TRITON_INTERPRET is set: nothing would be compiled; unset it")
    missing = [name for name in _NEEDED if not hasattr(interpreter, name)]
    if missing:
        import triton

        raise ConfigError(
            f"triton {triton.__version__} has no interpreter.{missing[0]}, which the cpu backend needs"
        )
    return target
