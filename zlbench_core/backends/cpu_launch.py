"""The launcher of the cpu backend: what Triton's generated C launcher is on a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from triton.compiler.compiler import ASTSource

from zlbench_core.backends.cpu_interpreter import run_grid
from zlbench_core.errors import ZlbenchError


class InterpreterLauncher:
    """Made by Triton once per compiled kernel, called once per launch."""

    def __init__(self, src: Any, metadata: Any) -> None:
        if not isinstance(src, ASTSource):
            raise ZlbenchError(
                f"kernel {metadata.name} comes from an IR file: the cpu backend runs only Python source"
            )
        self._kernel = src.fn
        self._constants = src.constants

    def __call__(
        self,
        grid_x: int,
        grid_y: int,
        grid_z: int,
        stream: Any,
        function: Any,
        packed_metadata: Any,
        launch_metadata: Any,
        enter_hook: Any,
        exit_hook: Any,
        *args: Any,
    ) -> None:
        arguments = self._by_name(args)
        _require_cpu(self._kernel.__name__, arguments)
        if enter_hook is not None:
            enter_hook(launch_metadata)
        run_grid(self._kernel, (grid_x, grid_y, grid_z), arguments)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def _by_name(self, args: tuple[Any, ...]) -> dict[str, Any]:
        """Arguments by parameter name. Triton 3.2 passes what is no constexpr, later ones pass all."""
        params = self._kernel.params
        if len(args) == len(params):
            return {param.name: arg for param, arg in zip(params, args, strict=True)}
        passed = [param.name for param in params if not param.is_constexpr]
        if len(args) != len(passed):
            raise ZlbenchError(
                f"kernel {self._kernel.__name__}: launched with {len(args)} arguments; it takes {len(params)}"
            )
        given = dict(zip(passed, args, strict=True))
        return {p.name: given[p.name] if p.name in given else self._constant(p) for p in params}

    def _constant(self, param: Any) -> Any:
        constants: Mapping[Any, Any] = self._constants
        for key in (param.name, param.num, (param.num,)):
            if key in constants:
                return constants[key]
        raise ZlbenchError(f"kernel {self._kernel.__name__}: no value for the constexpr {param.name}")


def _require_cpu(kernel: str, arguments: Mapping[str, Any]) -> None:
    for name, value in arguments.items():
        device = getattr(getattr(value, "base", value), "device", None)
        if device is not None and getattr(device, "type", "cpu") != "cpu":
            raise ZlbenchError(
                f"kernel {kernel}: argument {name} is on {device}; the cpu backend takes cpu tensors"
            )
