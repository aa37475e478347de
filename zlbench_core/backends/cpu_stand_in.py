"""Lets a test that says "cuda" run where there is none and nothing is executed: its tensors are on the CPU."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from zlbench_core.backends.cpu_driver import active_target

_CUDA = re.compile(r"cuda(:\d+)?")
_ARCH = re.compile(r"cuda:(\d+)(\d)|hip:gfx(\d+)([0-9a-f])[0-9a-f]")


class OnCpu(TorchFunctionMode):
    """Wherever torch is asked for a CUDA device, it gets the CPU."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func is torch.Tensor.cuda:
            return args[0]
        moved = {name: _on_cpu(value) for name, value in (kwargs or {}).items()}
        return func(*map(_on_cpu, args), **moved)


def stand_in_for_cuda() -> None:
    """For the rest of this process: CUDA is there, is one device of the target's kind, and has nothing to do."""
    target = active_target()
    assert target is not None, "the cpu driver is set before anything stands in"
    OnCpu().__enter__()
    answers = {
        "is_available": True,
        "device_count": 1,
        "current_device": 0,
        "get_device_name": target,
        "get_device_capability": _capability(target),
        "synchronize": None,
        "set_device": None,
        "empty_cache": None,
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, _always(answer))


def _capability(target: str) -> tuple[int, int]:
    """As torch tells it for such a device: (9, 0) of cuda:90, (9, 4) of hip:gfx942."""
    arch = _ARCH.fullmatch(target)
    assert arch is not None, f"the cpu driver compiles for {target}"
    major, minor = (part for part in arch.groups() if part is not None)
    return int(major), int(minor, 16)


def _always(answer: Any) -> Callable[..., Any]:
    return lambda *_, **__: answer


def _on_cpu(value: Any) -> Any:
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("cpu")
    return "cpu" if isinstance(value, str) and _CUDA.fullmatch(value) else value
