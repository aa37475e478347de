"""Is a kernel's result right? Compared with a float64 reference before anything is timed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

# The unit of relative error of one float32 product by default: tf32 keeps 10 bits after the leading one, and
# hardware may truncate the rest.
TF32_UNIT = 2.0**-10
# Of a float32 accumulation, with room for other orders of summation and approximate exp and rsqrt.
FLOAT32_UNIT = 2.0**-21
# Of one addition to a float32 accumulator that truncates.
ROUNDING_UNIT = 2.0**-23


class WrongResult(AssertionError):
    """A kernel's result that is not the reference's within the tolerance. The message is one line."""


@dataclass(frozen=True)
class Tolerance:
    """|result - reference| <= absolute + relative * |reference|, element by element."""

    absolute: float
    relative: float


def tolerance(dtype: torch.dtype, terms: int = 1, is_dot: bool = False) -> Tolerance:
    """How far a result of unit-normal inputs may be from the exact one.

    Relative: a few roundings to `dtype`. Absolute: the error of a sum of `terms` terms of size about 1, eight
    standard deviations of a random walk. A step is one unit of each term, or one rounding of each partial sum,
    which has grown to the root of the terms so far: the larger of the two. (On an H200, whose tensor cores truncate,
    4096 terms of float16 were off by 0.0006: 376 of 16 million elements beyond a bound without the second.)
    """
    unit = TF32_UNIT if is_dot and dtype == torch.float32 else FLOAT32_UNIT
    relative = max(4 * torch.finfo(dtype).eps, 2 * unit)
    walk = max(unit * math.sqrt(terms), ROUNDING_UNIT * terms / math.sqrt(2))
    return Tolerance(absolute=8 * walk, relative=relative)


@cache
def reference_device(device: str) -> str:
    """Where float64 is computed: on the device, or on the CPU where the device has no float64."""
    try:
        torch.zeros(1, dtype=torch.float64, device=device).add_(1).cpu()
    except (RuntimeError, TypeError):
        return "cpu"
    return device


def widened(value: Any, device: str) -> Any:
    """A float64 copy on `device` of a floating-point tensor; other tensors only moved, other values kept."""
    if not torch.is_tensor(value):
        return value
    return value.detach().to(device, torch.float64 if value.is_floating_point() else value.dtype)


def check_close(
    name: str, result: Any, reference: torch.Tensor, dtype: torch.dtype, allowed: Tolerance
) -> None:
    """Raise WrongResult unless `result` has `dtype`, and the reference's shape and values as `allowed`."""
    if not torch.is_tensor(result) or result.dtype != dtype or result.shape != reference.shape:
        got = f"{result.dtype} {list(result.shape)}" if torch.is_tensor(result) else type(result).__name__
        raise WrongResult(f"wrong result of {name}: got {got}, expected {dtype} {list(reference.shape)}")
    wide = result.to(reference.device, torch.float64)
    error = (wide - reference).abs()
    # Not "error > limit": a nan must count as wrong.
    bad = ~(error <= allowed.absolute + allowed.relative * reference.abs())
    if bad.any():
        raise WrongResult(_complaint(name, wide, reference, bad, error, allowed))


def _complaint(
    name: str,
    wide: torch.Tensor,
    reference: torch.Tensor,
    bad: torch.Tensor,
    error: torch.Tensor,
    allowed: Tolerance,
) -> str:
    worst = int(torch.where(bad, error.nan_to_num(nan=math.inf), -1.0).argmax())
    where = [int(i) for i in torch.unravel_index(torch.tensor(worst), wide.shape)]
    limit = f"{allowed.absolute:.3g} + {allowed.relative:.3g} * |reference|"
    return (
        f"wrong result of {name}: {int(bad.sum())} of {bad.numel()} elements differ from the float64 "
        f"reference by more than {limit}; worst at {where}: "
        f"got {wide.flatten()[worst].item():.9g}, expected {reference.flatten()[worst].item():.9g}"
    )
