"""Is the device still good after a refused capture? Asked before any fallback is timed."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

KNOWN = (3.0, 1.0, 4.0, 1.5)


def round_trip(torch_device: str) -> bool:
    """Whether known values come back from the device unchanged. Copies only: an operator library may have
    replaced every other operator of torch by the very kernels under test."""
    import torch

    return torch.tensor(KNOWN).to(torch_device).cpu().tolist() == list(KNOWN)


def is_healthy(interface: ModuleType | Any, fn: Callable[[], Any], known_answer: Callable[[], bool]) -> bool:
    """Whether the device answers right and still runs `fn`, which ran before the capture, outside of one."""
    try:
        interface.synchronize()
        fn()
        interface.synchronize()
        return known_answer()
    except Exception:  # whatever a sick device raises, the answer is no
        return False
