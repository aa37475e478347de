"""The static plan of a whole suite: of every test function, where its shapes come from or why nobody can say."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zlbench_core.autotune.class_chain import Scope, read_module
from zlbench_core.autotune.shapes import (
    CODE,
    DEFAULT,
    OVERRIDES,
    UNRESOLVED,
    YAML,
    ShapePlan,
    plan_function,
    read_shapes,
)
from zlbench_core.errors import ReadError

# Of a test that builds several benchmarks, the one that is known worst stands for it.
WORST_FIRST = (UNRESOLVED, CODE, DEFAULT, YAML)
LEVELS = ("core", "comprehensive")


@dataclass(frozen=True)
class PlannedTest:
    """One test function of a file, with the plan of each benchmark object that it builds."""

    file: str
    function: str
    plans: tuple[ShapePlan, ...]

    @property
    def source(self) -> str:
        return next(source for source in WORST_FIRST if any(plan.source == source for plan in self.plans))

    def exact_at(self, level: str) -> bool:
        return all(plan.exact_at(level) for plan in self.plans)

    def to_json(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "function": self.function,
            "source": self.source,
            "plans": [plan.to_json() for plan in self.plans],
        }


def survey(folder: Path) -> list[PlannedTest]:
    """Plan every test function of a benchmark folder (base.py, core_shapes.yaml, test_*.py), without importing it.

    Raises ReadError when one of these files is missing or cannot be parsed.
    """
    try:
        base, shapes = read_module(folder / "base.py"), read_shapes(folder / "core_shapes.yaml")
        modules = [read_module(path, base) for path in sorted(folder.glob("test_*.py"))]
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
        raise ReadError(f"{folder} cannot be planned: {' '.join(str(error).split())}") from None
    return [
        PlannedTest(module.path.name, name, tuple(plan_function(module, shapes, name)))
        for module in modules
        for name in test_functions(module)
    ]


def test_functions(module: Scope) -> Iterator[str]:
    """The functions and methods that pytest collects by their name."""
    methods = [node for cls in module.classes.values() for node in cls.body if cls.name.startswith("Test")]
    for node in [*module.functions.values(), *methods]:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name


def counts(tests: Sequence[PlannedTest]) -> dict[str, Any]:
    """The survey in numbers. `overriding` counts by the method that a class in front of the root defines."""
    in_code = [test for test in tests if test.source == CODE]
    return {
        "tests": len(tests),
        "files": len({test.file for test in tests}),
        "by_source": {source: sum(test.source == source for test in tests) for source in WORST_FIRST},
        "files_in_code": len({test.file for test in in_code}),
        "overriding": {
            name: sum(any(f".{name} (" in (plan.reason or "") for plan in test.plans) for test in tests)
            for name in (*OVERRIDES, "get_input_iter")
        },
        "exact": {level: sum(test.exact_at(level) for test in tests) for level in LEVELS},
        "unresolved_because": dict(_reasons(tests).most_common()),
    }


def _reasons(tests: Sequence[PlannedTest]) -> Counter[str]:
    return Counter(
        _kind(plan.reason or "")
        for test in tests
        if test.source == UNRESOLVED
        for plan in test.plans
        if plan.source == UNRESOLVED
    )


def _kind(reason: str) -> str:
    """A reason without the names in it."""
    for kind in (
        "not a literal",
        "no op_name is given",
        "no benchmark is built",
        "is no class of",
        "has no function",
    ):
        if kind in reason:
            return kind
    return reason
