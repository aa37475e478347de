"""The classes of a benchmark's test module and of the suite's base module, read without importing either."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = "Benchmark"


@dataclass(frozen=True, eq=False)
class Scope:
    """The names of one module, or of one function inside it, that may be classes."""

    path: Path
    classes: Mapping[str, ast.ClassDef]
    functions: Mapping[str, ast.FunctionDef]
    imported: Mapping[str, str]  # local name -> name in the base module, "" for the module itself
    outer: Scope | None = None
    base: Scope | None = None


@dataclass(frozen=True)
class Unknown:
    """A base class that stands outside both modules."""

    name: str


@dataclass(frozen=True)
class Class:
    name: str
    node: ast.ClassDef
    scope: Scope = field(repr=False)

    @property
    def is_root(self) -> bool:
        return self.name == ROOT and self.scope.base is None

    @property
    def where(self) -> str:
        return f"{self.scope.path.name}:{self.node.lineno}"

    def method(self, name: str) -> ast.FunctionDef | None:
        return next(
            (one for one in self.node.body if isinstance(one, ast.FunctionDef) and one.name == name), None
        )


def read_module(path: Path, base: Scope | None = None) -> Scope:
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    imports = {} if base is None else dict(_imports(tree, base.path.stem))
    return Scope(
        path, _named(tree.body, ast.ClassDef), _named(tree.body, ast.FunctionDef), imports, base=base
    )


def function_scope(module: Scope, function: ast.FunctionDef) -> Scope:
    """The names inside a function: classes and functions may be defined there."""
    nested = [node for node in ast.walk(function) if node is not function]
    classes, functions = _named(nested, ast.ClassDef), _named(nested, ast.FunctionDef)
    return Scope(module.path, classes, functions, {}, outer=module, base=module.base)


def _named(nodes: list[ast.stmt] | list[ast.AST], kind: type) -> dict[str, ast.AST]:
    return {node.name: node for node in nodes if isinstance(node, kind)}


def _imports(tree: ast.Module, base_name: str) -> Iterator[tuple[str, str]]:
    """`from . import base`, `from .base import X` and their absolute forms, with their local names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            from_base = (node.module or "").rpartition(".")[2] == base_name
            for alias in node.names:
                if from_base:
                    yield alias.asname or alias.name, alias.name
                elif alias.name == base_name:
                    yield alias.asname or alias.name, ""
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname and alias.name.rpartition(".")[2] == base_name:
                    yield alias.asname, ""


def resolve(expression: ast.expr, scope: Scope, skip: ast.ClassDef | None = None) -> Class | Unknown | None:
    """The class that an expression names. None when it is none of a module's names (a variable, a call).

    The innermost definition wins; `skip` is a class being defined, whose own name means an outer one.
    """
    if isinstance(expression, ast.Name):
        return _resolve_name(expression.id, scope, skip)
    if isinstance(expression, ast.Attribute):
        owner = ast.unparse(expression.value)
        if scope.base is not None and _import_of(owner, scope) == "":
            return _own(expression.attr, scope.base) or Unknown(ast.unparse(expression))
        return Unknown(ast.unparse(expression))
    return None


def _resolve_name(name: str, scope: Scope, skip: ast.ClassDef | None) -> Class | Unknown | None:
    here: Scope | None = scope
    while here is not None:
        if (node := here.classes.get(name)) is not None and node is not skip:
            return Class(name, node, here)
        here = here.outer
    imported = _import_of(name, scope)
    if imported and scope.base is not None:
        return _own(imported, scope.base) or Unknown(name)
    return None


def _own(name: str, scope: Scope) -> Class | None:
    node = scope.classes.get(name)
    return None if node is None else Class(name, node, scope)


def _import_of(name: str, scope: Scope) -> str | None:
    module = scope.outer or scope
    return module.imported.get(name)


def method_resolution_order(cls: Class) -> list[Class | Unknown]:
    """Python's own order (C3); a base outside both modules stands for whatever is behind it."""
    bases = [resolve(one, cls.scope, cls.node) or Unknown(ast.unparse(one)) for one in cls.node.bases]
    bases = [one for one in bases if one != Unknown("object")]
    orders = [method_resolution_order(one) if isinstance(one, Class) else [one] for one in bases]
    return [cls, *_merge([*orders, bases])]


def _merge(sequences: list[list[Class | Unknown]]) -> list[Class | Unknown]:
    merged: list[Class | Unknown] = []
    pending = [list(one) for one in sequences if one]
    while pending:
        head = next(
            (one[0] for one in pending if not any(one[0] in other[1:] for other in pending)), pending[0][0]
        )
        merged.append(head)
        pending = [rest for one in pending if (rest := [item for item in one if item != head])]
    return merged
