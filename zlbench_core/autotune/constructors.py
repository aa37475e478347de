"""Which benchmark objects a test function builds, and under which operator name, read from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from zlbench_core.autotune.class_chain import (
    Class,
    Scope,
    Unknown,
    function_scope,
    method_resolution_order,
    resolve,
)

_PLAIN_MARKS = {"parametrize", "skip", "skipif", "xfail", "usefixtures", "filterwarnings", "timeout"}


def built_in(
    module: Scope, function: ast.FunctionDef, seen: frozenset[str] = frozenset()
) -> Iterator[tuple[ast.Call, Class | Unknown]]:
    """The constructor calls of a function; when it has none, those of the module's helpers that it calls."""
    seen |= {function.name}
    scope = function_scope(module, function)
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    built = [(call, cls) for call in calls if (cls := _constructed(call, scope)) is not None]
    yield from built
    for call in calls if not built else ():
        helper = call.func.id if isinstance(call.func, ast.Name) else None
        if helper in module.functions and helper not in seen:
            yield from built_in(module, module.functions[helper], seen)


def find_function(module: Scope, name: str) -> ast.FunctionDef | None:
    """A test function of the module, or a test method of one of its classes."""
    if name in module.functions:
        return module.functions[name]
    methods = (Class(label, node, module).method(name) for label, node in module.classes.items())
    return next((method for method in methods if method is not None), None)


def first_marker(function: ast.FunctionDef) -> str | None:
    """The first pytest marker that is not pytest's own."""
    for decorator in function.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        owner, _, mark = ast.unparse(target).rpartition(".")
        if owner == "pytest.mark" and mark not in _PLAIN_MARKS:
            return mark
    return None


def _constructed(call: ast.Call, scope: Scope) -> Class | Unknown | None:
    """The benchmark class that a call builds; Unknown for a call with op_name to what is unknown here."""
    cls = resolve(call.func, scope)
    if isinstance(cls, Class) and any(_is_root(one) for one in method_resolution_order(cls)):
        return cls
    is_method = isinstance(call.func, ast.Attribute) and call.func.attr == "__init__"
    names_op = any(keyword.arg == "op_name" for keyword in call.keywords) and not is_method
    is_function = isinstance(call.func, ast.Name) and _is_function(call.func.id, scope)
    return Unknown(ast.unparse(call.func)) if names_op and not is_function else None


def _is_function(name: str, scope: Scope) -> bool:
    return name in scope.functions or (scope.outer is not None and name in scope.outer.functions)


def _is_root(one: Class | Unknown) -> bool:
    return isinstance(one, Class) and one.is_root


def op_name_of(call: ast.Call, order: list[Class | Unknown]) -> tuple[str | None, str | None]:
    """The literal op_name, or None and why there is none. `is_backward=True` changes it as the suite does."""
    given = _argument(call, "op_name", 0)
    if given is None:
        given = next((one for cls in order if (one := _fixed_op_name(cls)) is not None), None)
    if given is None:
        return None, f"no op_name is given in line {call.lineno}"
    if not (isinstance(given, ast.Constant) and isinstance(given.value, str)):
        return None, f"op_name is `{ast.unparse(given)}` in line {given.lineno}, not a literal"
    return _with_direction(given.value, _argument(call, "is_backward", None))


def _with_direction(name: str, backward: ast.expr | None) -> tuple[str | None, str | None]:
    if backward is None:
        return name, None
    if not isinstance(backward, ast.Constant):
        return None, f"is_backward is `{ast.unparse(backward)}` in line {backward.lineno}, not a literal"
    return name + "_backward" if backward.value and "_backward" not in name else name, None


def _argument(call: ast.Call, name: str, place: int | None) -> ast.expr | None:
    named = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    if named is not None or place is None or len(call.args) <= place:
        return named
    positional = call.args[place]
    return None if isinstance(positional, ast.Starred) else positional


def _fixed_op_name(cls: Class | Unknown) -> ast.expr | None:
    """The op_name that a class's own constructor passes up."""
    init = cls.method("__init__") if isinstance(cls, Class) and not cls.is_root else None
    for node in ast.walk(init) if init is not None else ():
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "super().__init__":
            return _argument(node, "op_name", 0)
    return None
