"""Run the source of a compiled Triton kernel through Triton's interpreter, without TRITON_INTERPRET.

Triton's own interpreter mode replaces @triton.jit for the whole process, so nothing is compiled any more.
Here kernels stay compiled functions, and the language is the interpreter's only while one launch runs:

- a nested @triton.jit function, tl.sum among them, is a JITFunction that refuses a plain call; during a
  launch such a call is routed to the interpreted form of that function;
- `_patch_lang` (before 3.6 it cannot be undone, and the interpreter's own nested calls never undo it) is run
  once to learn what it changes in triton.language; each launch sets these attributes and takes them back, so
  that the next compilation finds the language as it was.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import triton.language as tl
from triton.compiler.compiler import ASTSource
from triton.runtime import interpreter
from triton.runtime.jit import JITFunction

from zlbench_core.backends import cpu_bfloat16

# Held by a launch and by the compiler's reading of a kernel's source: both look at triton.language, and a
# compilation in another thread (triton.AsyncCompileMode) must not meet the interpreter's language.
_language_lock = threading.RLock()
_ABSENT = object()


@dataclasses.dataclass(frozen=True)
class _Patch:
    owner: Any
    name: str
    interpreted: Any
    compiled: Any


def run_grid(kernel: JITFunction, grid: tuple[int, int, int], arguments: Mapping[str, Any]) -> None:
    """Run one launch: every program of `grid` in turn, in this thread. `arguments` are by parameter name.

    An exception of the kernel's source is raised as it is, with a note that names kernel and program.
    """
    constants = {param.name for param in kernel.params if param.is_constexpr}
    program = interpreted(kernel)
    builder = interpreter.interpreter_builder
    # A GPU does not warn where a padded lane divides 0 by 0.
    with _interpreted_language(), np.errstate(all="ignore"):
        values = {
            name: value if name in constants else interpreter._implicit_cvt(value)
            for name, value in arguments.items()
        }
        builder.set_grid_dim(*grid)
        for index in itertools.product(*map(range, grid)):
            builder.set_grid_idx(*index)
            try:
                program(**values)
            except Exception as error:
                if hasattr(error, "add_note"):  # Python 3.11
                    error.add_note(
                        f"in program {index} of kernel {kernel.__name__}, run by Triton's interpreter"
                    )
                raise


def interpreted(function: JITFunction) -> Callable[..., Any]:
    """A @triton.jit function as a plain one, rewritten for the interpreter. Made once per source."""
    known = getattr(function, "_zlbench_interpreted", None)
    if known is None or known[0] != function.src:
        known = (function.src, _rewrite(function))
        function._zlbench_interpreted = known
    return known[1]


def lock_compiler() -> None:
    """Keep compilations in other threads out of a running launch. Idempotent."""
    if ASTSource.make_ir.__module__ == __name__:
        return
    upstream = ASTSource.make_ir

    def make_ir(self: ASTSource, *args: Any, **kwargs: Any) -> Any:
        with _language_lock:
            return upstream(self, *args, **kwargs)

    ASTSource.make_ir = make_ir


def _rewrite(function: JITFunction) -> Callable[..., Any]:
    """Compile the source with assignments turned into tensors, as the interpreter does.

    It runs on a copy of the kernel's globals with its closure added: the interpreter's own rewriting writes
    its names into the kernel's module and loses closures.
    """
    tree = interpreter.ASTTransformer().visit(ast.parse(function.src))
    ast.increment_lineno(ast.fix_missing_locations(tree), _def_line(function) - 1)
    scope = {
        **vars(interpreter),
        **function.fn.__globals__,
        **inspect.getclosurevars(function.fn).nonlocals,
    }
    own: dict[str, Any] = {}
    exec(compile(tree, function.fn.__code__.co_filename, "exec"), scope, own)
    return own[function.fn.__name__]


def _def_line(function: JITFunction) -> int:
    lines, first = inspect.getsourcelines(function.fn)
    offsets = (i for i, line in enumerate(lines) if line.lstrip().startswith("def "))
    return first + next(offsets, 0)


def _call_nested(function: JITFunction, *args: Any, **kwargs: Any) -> Any:
    return interpreted(function)(*args, **kwargs)


@contextmanager
def _interpreted_language() -> Iterator[None]:
    with _language_lock:
        patches = _language_patches()
        try:
            for patch in patches:
                setattr(patch.owner, patch.name, patch.interpreted)
            yield
        finally:
            for patch in patches:
                _restore(patch)


def _restore(patch: _Patch) -> None:
    if patch.compiled is not _ABSENT:
        setattr(patch.owner, patch.name, patch.compiled)
    elif patch.name in vars(patch.owner):
        delattr(patch.owner, patch.name)


@cache
def _language_patches() -> tuple[_Patch, ...]:
    """What a launch changes: all that `_patch_lang` does to the language, nested calls, and bfloat16."""
    before = {id(owner): dict(vars(owner)) for owner in _language_owners()}
    interpreter._patch_lang(SimpleNamespace(__globals__={"tl": tl, "core": tl.core}))
    language = tuple(
        _Patch(owner, name, value, before[id(owner)].get(name, _ABSENT))
        for owner in _language_owners()
        for name, value in vars(owner).items()
        if before[id(owner)].get(name, _ABSENT) is not value
    )
    for patch in language:
        _restore(patch)
    # Last, so that it wins over the interpreter's own: numpy 2.4 refuses int() of an array of one element.
    index = _Patch(tl.tensor, "__index__", _index, vars(tl.tensor).get("__index__", _ABSENT))
    call = _Patch(JITFunction, "__call__", _call_nested, vars(JITFunction).get("__call__", _ABSENT))
    builder = interpreter.InterpreterBuilder
    bfloat16 = (
        _Patch(builder, name, value, vars(builder)[name]) for name, value in cpu_bfloat16.REPLACEMENTS.items()
    )
    return (*language, index, call, *bfloat16, *_unchecked_integers())


def _unchecked_integers() -> Iterator[_Patch]:
    # Without `debug` the check asserts nothing, here as in compiled code, and takes half of a launch's time.
    builder = interpreter.interpreter_builder
    if getattr(builder.options, "sanitize_overflow", False) and not builder.options.debug:
        unchecked = dataclasses.replace(builder.options, sanitize_overflow=False)
        yield _Patch(builder, "options", unchecked, builder.options)


def _index(tensor: tl.tensor) -> int:
    return int(tensor.handle.data.item())


def _language_owners() -> list[Any]:
    """Where `_patch_lang` may set an attribute: the modules of triton.language, the classes of its core."""
    loaded = list(sys.modules.items())
    modules = [module for name, module in loaded if f"{name}.".startswith("triton.language.")]
    classes = {c for c in vars(tl.core).values() if inspect.isclass(c) and c.__module__.startswith("triton.")}
    return [*modules, *classes]
