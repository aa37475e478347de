"""Names that two processes, two checkouts and two machines give to the same tuner, key and source.

Nothing here imports triton: a tuner is what has `fn`, `arg_names`, `keys` and `configs`.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import math
import textwrap
from collections.abc import Iterator
from typing import Any

from zlbench_core.common.files import digest_of

Json = Any


def canonical(value: Any) -> Json:
    """`value` as JSON that is the same in every process.

    Plain values stay themselves, sequences become lists, a tensor becomes its dtype and shape (its content is
    never read: that would synchronise), anything else its type and text. An object whose text holds its
    address is named by its type alone.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else ["float", str(value)]
    if isinstance(value, list | tuple):
        return [canonical(item) for item in value]
    if isinstance(value, dict):
        return {
            str(name): canonical(item) for name, item in sorted(value.items(), key=lambda pair: str(pair[0]))
        }
    return _canonical_object(value)


def _canonical_object(value: Any) -> Json:
    name = type(value).__name__
    if hasattr(value, "data_ptr") and hasattr(value, "shape"):
        return [name, str(value.dtype), [int(extent) for extent in value.shape]]
    text = str(value)
    return [name] if " at 0x" in text else [name, text]


def canonical_key(key: Any) -> list[Json]:
    """A tuner's own key, a tuple, as a JSON list."""
    return [canonical(item) for item in key]


def key_id(key: list[Json]) -> str:
    """The digest of a canonical key, 16 hex digits."""
    return digest_of(key)


def kernel_name(tuner: Any) -> str:
    return str(getattr(tuner.base_fn, "__name__", tuner.base_fn))


def kernel_id(tuner: Any) -> str:
    """The kernel's name and a digest of its arguments and key names: no module, no path, no line number."""
    return f"{kernel_name(tuner)}-{digest_of([list(tuner.arg_names), list(tuner.keys)])[:8]}"


def source_digest(tuner: Any) -> str:
    """The sha256 (64 hex digits) of the kernel's source and of the kernels that it calls.

    Comments, blank lines and the place in the file do not count; Triton's own library does not either, since
    the compiler's version is recorded elsewhere.
    """
    found: dict[int, str] = {}
    _collect_sources(jit_function(tuner), found)
    return hashlib.sha256("\n".join(sorted(found.values())).encode()).hexdigest()


def jit_function(tuner: Any) -> Any:
    """The innermost function object: what a chain of tuners and heuristics wraps."""
    fn = tuner.fn
    while not _is_jit(fn) and hasattr(fn, "fn"):
        fn = fn.fn
    return fn


def _is_jit(value: Any) -> bool:
    return isinstance(getattr(value, "src", None), str) and hasattr(value, "fn")


def _collect_sources(fn: Any, found: dict[int, str]) -> None:
    if id(fn) in found:
        return
    tree = ast.parse(_source_of(fn))
    found[id(fn)] = ast.unparse(tree)
    for callee in _callees(tree, _globals_of(fn)):
        _collect_sources(callee, found)


def _source_of(fn: Any) -> str:
    source = fn.src if _is_jit(fn) else inspect.getsource(fn)
    return textwrap.dedent(source)


def _globals_of(fn: Any) -> dict[str, Any]:
    function = fn.fn if _is_jit(fn) else fn
    return getattr(function, "__globals__", {})


def _callees(tree: ast.AST, scope: dict[str, Any]) -> Iterator[Any]:
    for node in ast.walk(tree):
        value = _resolve(node, scope) if isinstance(node, ast.Name | ast.Attribute) else None
        if _is_jit(value) and not str(getattr(value, "__module__", "")).startswith("triton."):
            yield value


def _resolve(node: ast.AST, scope: dict[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        return scope.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _resolve(node.value, scope)
        return getattr(owner, node.attr, None) if inspect.ismodule(owner) else None
    return None
