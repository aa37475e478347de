"""Which pytest node an operator is, in a file that may be anybody's."""

from __future__ import annotations

import ast
import threading
from collections.abc import Iterator
from pathlib import Path

# Python 3.11's parser may raise SystemError in two threads at once, and both sides of a duet are started by threads.
_PARSING = threading.Lock()


def node_of(test_file: Path, op: str, *, whole_file: bool) -> str:
    """The node of `op`, relative to the file's folder: the function test_<op>, a method of that name, or the file.

    The file, all its tests, is meant where it has no such function and `whole_file` allows that. Without that
    the function is named all the same: pytest then says that it is not there.
    """
    function = f"test_{op}"
    places = list(_places(_parsed(test_file), function))
    if places:
        return f"{test_file.name}::{places[0]}"
    return test_file.name if whole_file else f"{test_file.name}::{function}"


def class_names(file: Path, *, outer: bool = False) -> set[str]:
    """The classes of a file; with `outer` also those that it may have from elsewhere, by name."""
    nodes = list(ast.walk(_parsed(file)))
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    found = {node.name for node in classes}
    if outer:
        found |= {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
        found |= {base.attr for node in classes for base in node.bases if isinstance(base, ast.Attribute)}
    return found


def strings_of(file: Path, function: str | None = None) -> set[str]:
    """The texts that stand in a file, or in its functions of one name."""
    nodes: list[ast.AST] = [_parsed(file)]
    if function is not None:
        nodes = [node for node in ast.walk(nodes[0]) if getattr(node, "name", None) == function]
    inner = (sub for node in nodes for sub in ast.walk(node))
    return {sub.value for sub in inner if isinstance(sub, ast.Constant) and isinstance(sub.value, str)}


def _parsed(test_file: Path) -> ast.Module:
    try:
        with _PARSING:
            return ast.parse(test_file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ast.Module([], [])  # preflight names a missing file, pytest a broken one


def _places(module: ast.Module, function: str) -> Iterator[str]:
    if function in {name for node in module.body for name in _names(node)}:
        yield function
    for node in module.body:
        if isinstance(node, ast.ClassDef) and function in {name for sub in node.body for name in _names(sub)}:
            yield f"{node.name}::{function}"


def _names(node: ast.stmt) -> Iterator[str]:
    """The names that a statement binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in node.names)
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))
