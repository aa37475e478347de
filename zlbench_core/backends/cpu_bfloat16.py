"""bfloat16 in Triton's interpreter.

The interpreter keeps bfloat16 as uint16 and (3.6) runs arithmetic on those integers: an addition or a dot of
two bfloat16 blocks is silently wrong, and a conversion from float32 truncates where a GPU rounds to nearest
even. These replacements of InterpreterBuilder's methods compute in float32 and round as a GPU does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

_UPSTREAM = interpreter.InterpreterBuilder


def to_float32(bits: np.ndarray) -> np.ndarray:
    """float32 values of bfloat16 bit patterns (uint16), same shape."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_bits(values: np.ndarray) -> np.ndarray:
    """bfloat16 bit patterns (uint16) of float32 values, rounded to nearest even; nan stays nan."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


def _is_bfloat16(handle: Any) -> bool:
    return handle.dtype.scalar == tl.bfloat16


def _floats(handle: Any) -> np.ndarray:
    return to_float32(handle.data) if _is_bfloat16(handle) else handle.data


def _handle(result: np.ndarray) -> Any:
    data = result if result.dtype == np.bool_ else to_bits(result)
    return interpreter.TensorHandle(data, tl.bfloat16)


def _computed_in_float32(method: str) -> Callable[..., Any]:
    upstream = getattr(_UPSTREAM, method)

    def replacement(self: Any, *operands: Any) -> Any:
        *handles, operation = operands
        if not _is_bfloat16(handles[-1]):
            return upstream(self, *operands)
        return _handle(operation(*(_floats(handle) for handle in handles)))

    return replacement


def _fma(self: Any, x: Any, y: Any, z: Any) -> Any:
    return (
        _UPSTREAM_FMA(self, x, y, z) if not _is_bfloat16(z) else _handle(_floats(x) * _floats(y) + _floats(z))
    )


def _cast(self: Any, source: Any, dst_type: Any) -> Any:
    target = dst_type.scalar
    if target == tl.bfloat16 and not _is_bfloat16(source):
        return interpreter.TensorHandle(to_bits(source.data.astype(np.float32)), target)
    if _is_bfloat16(source) and target != tl.bfloat16:
        as_float = interpreter.TensorHandle(to_float32(source.data), tl.float32)
        return _UPSTREAM_CAST(self, as_float, dst_type)
    return _UPSTREAM_CAST(self, source, dst_type)


def _dot(self: Any, a: Any, b: Any, *rest: Any) -> Any:
    if not _is_bfloat16(a):
        return _UPSTREAM_DOT(self, a, b, *rest)
    a, b = (interpreter.TensorHandle(to_float32(x.data), tl.float32) for x in (a, b))
    return _UPSTREAM_DOT(self, a, b, *rest)


_UPSTREAM_CAST = _UPSTREAM.cast_impl
_UPSTREAM_DOT = _UPSTREAM.create_dot
_UPSTREAM_FMA = _UPSTREAM.create_fma

REPLACEMENTS: dict[str, Callable[..., Any]] = {
    "binary_op": _computed_in_float32("binary_op"),
    "ternary_op": _computed_in_float32("ternary_op"),
    "unary_op": _computed_in_float32("unary_op"),
    "create_fma": _fma,
    "cast_impl": _cast,
    "create_dot": _dot,
}
