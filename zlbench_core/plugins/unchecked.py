"""pytest plugin: with ZL_MEASURE=0 the tests of a user's own files go on whatever their results are.

Nothing that a kernel would have written is there, so a check of results would end the test before its later
launches are compiled. Assertions of the files below the root directory are evaluated and not enforced (what
they call may launch kernels), and the comparisons of torch, triton and numpy accept everything.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

from zlbench_core.backends import get_backend
from zlbench_core.records.run_env import RunEnv

_COMPARISONS = ("torch.testing", "triton.testing", "numpy.testing")


class _Unenforced(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> ast.Expr:
        return ast.copy_location(ast.Expr(node.test), node)


class UncheckedLoader(SourceFileLoader):
    """Loads a module without its assertions, and leaves no bytecode behind."""

    def get_code(self, fullname: str) -> CodeType:
        tree = _Unenforced().visit(ast.parse(self.get_data(self.path)))
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)


class UncheckedFinder:
    """Finds the modules whose source lies below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or not isinstance(spec.loader, SourceFileLoader) or not self._is_mine(spec.origin):
            return None
        spec.loader = UncheckedLoader(spec.loader.name, spec.loader.path)
        return spec

    def _is_mine(self, origin: str | None) -> bool:
        return origin is not None and Path(origin).is_relative_to(self.root)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    run = RunEnv.read()
    if run.measure:
        return
    # Before pytest's own finder, which rewrites assertions so that they tell more.
    sys.meta_path.insert(0, UncheckedFinder(early_config.rootpath))
    for name in _COMPARISONS:
        _accept_everything(importlib.import_module(name))
    backend = get_backend(run.backend)
    backend.process_activate(run.target)
    backend.process_compile_only()


def _accept_everything(module: ModuleType) -> None:
    for name in dir(module):
        if name.startswith("assert_") and callable(getattr(module, name)):
            setattr(module, name, _accept)


def _accept(*_: Any, **__: Any) -> None:
    return None
