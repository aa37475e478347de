"""What a benchmark function will walk, planned from its source: its class chain and the suite's shape file.

This plans shards before a device is used. It says what it resolved and how, or what it tried and why not; the
run itself splits what the benchmark really resolved (shards.py).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from zlbench_core.autotune.class_chain import Class, Scope, Unknown, method_resolution_order, read_module
from zlbench_core.autotune.constructors import built_in, find_function, first_marker, op_name_of

YAML, DEFAULT, CODE, UNRESOLVED = "yaml", "default", "code", "unresolved"
OVERRIDES = ("set_shapes", "init_user_config")


@dataclass(frozen=True)
class ShapePlan:
    """One benchmark object of a test function.

    `source` is yaml or default (then `shapes` is known), code (a class sets them) or unresolved; for the last
    two `reason` says where or why. `extra_shapes` names the code that adds shapes at comprehensive level.
    """

    function: str
    marker: str | None
    op_name: str | None
    benchmark: str | None
    chain: tuple[str, ...]
    source: str
    key: str | None = None
    candidates: tuple[str, ...] = ()
    shapes: list[Any] | None = None
    extra_shapes: str | None = None
    reason: str | None = None

    def exact_at(self, level: str) -> bool:
        """Whether the shapes of a level ("core" or "comprehensive") are all known."""
        return self.shapes is not None and (level == "core" or self.extra_shapes is None)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def plan_shapes(
    test_file: Path | str,
    function: str,
    *,
    base_file: Path | str | None = None,
    shapes_file: Path | str | None = None,
) -> list[ShapePlan]:
    """The plans of all benchmark objects that `function` builds; at least one, unresolved when there is none.

    base.py and core_shapes.yaml are looked for beside the test file when they are not given.
    """
    path = Path(test_file)
    base = read_module(Path(base_file) if base_file else path.parent / "base.py")
    shapes = read_shapes(Path(shapes_file) if shapes_file else path.parent / "core_shapes.yaml")
    return plan_function(read_module(path, base), shapes, function)


def plan_function(module: Scope, shapes: Mapping[str, Any], function: str) -> list[ShapePlan]:
    """`plan_shapes` for a module and a shape file that were read before."""
    return _Planner(module, shapes).plan(function)


def read_shapes(path: Path) -> Mapping[str, Any]:
    with path.open(encoding="utf-8") as stream:
        return yaml.safe_load(stream) or {}


@dataclass(frozen=True)
class _Planner:
    module: Scope
    shapes: Mapping[str, Any]

    def plan(self, name: str) -> list[ShapePlan]:
        function = find_function(self.module, name)
        if function is None:
            reason = f"{self.module.path.name} has no function {name}"
            return [ShapePlan(name, None, None, None, (), UNRESOLVED, reason=reason)]
        marker = first_marker(function)
        found = list(built_in(self.module, function))
        if not found:
            reason = f"no benchmark is built in {name}"
            return [ShapePlan(name, marker, None, None, (), UNRESOLVED, reason=reason)]
        return [self._plan_one(name, marker, call, cls) for call, cls in found]

    def _plan_one(self, function: str, marker: str | None, call: ast.Call, cls: Class | Unknown) -> ShapePlan:
        order = method_resolution_order(cls) if isinstance(cls, Class) else [cls]
        chain = tuple(one.name for one in order)
        op_name, trouble = op_name_of(call, order)
        fields = self._source(op_name, trouble, order)
        return ShapePlan(function, marker, op_name, cls.name, chain, extra_shapes=_extra(order), **fields)

    def _source(
        self, op_name: str | None, trouble: str | None, order: list[Class | Unknown]
    ) -> dict[str, Any]:
        names = [one.name for one in order]
        candidates = (op_name, *names) if op_name else tuple(names)
        known = {"candidates": candidates}
        outside = next((one.name for one in order if isinstance(one, Unknown)), None)
        if outside is not None:
            reason = f"{outside} is no class of {self.module.path.name} or of the base module"
            return {**known, "source": UNRESOLVED, "reason": reason}
        override = _override(order) or _own_inputs(order)
        if override is not None:
            reasons = [f"shapes set in code by {override}", *([trouble] if trouble else [])]
            return {**known, "source": CODE, "reason": "; ".join(reasons)}
        if trouble is not None:
            return {**known, "source": UNRESOLVED, "reason": trouble}
        return {**known, **self._look_up(candidates)}

    def _look_up(self, candidates: tuple[str, ...]) -> dict[str, Any]:
        key = next((one for one in candidates if one in self.shapes), None)
        listed = self.shapes[key].get("shapes") if key is not None else None
        if listed is None:
            reason = f"{key or 'no candidate'} lists no shapes; the class's DEFAULT_SHAPES are used"
            return {"source": DEFAULT, "key": key, "reason": reason}
        return {"source": YAML, "key": key, "shapes": listed}


def _override(order: list[Class | Unknown]) -> str | None:
    """The first class in front of the root that sets shapes itself, as `Class.method (file:line)`."""
    for cls in order:
        if isinstance(cls, Class) and not cls.is_root:
            for name in OVERRIDES:
                if cls.method(name) is not None:
                    return f"{cls.name}.{name} ({cls.where})"
    return None


def _own_inputs(order: list[Class | Unknown]) -> str | None:
    """The `Class.get_input_iter (file:line)` in force, when it walks something else than the object's shapes."""
    for cls in order:
        method = cls.method("get_input_iter") if isinstance(cls, Class) else None
        if method is not None:
            is_abstract = isinstance(cls, Class) and cls.is_root
            return (
                None if is_abstract or _reads_shapes(method) else f"{cls.name}.get_input_iter ({cls.where})"
            )
    return None


def _reads_shapes(method: ast.FunctionDef) -> bool:
    """Whether a method names the shapes, or hands the question on to its base class."""
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "shapes")
        or (isinstance(node, ast.Name) and node.id == "super")
        for node in ast.walk(method)
    )


def _extra(order: list[Class | Unknown]) -> str | None:
    """The `Class.set_more_shapes` that adds shapes at comprehensive level; None when it returns nothing."""
    for cls in order:
        method = cls.method("set_more_shapes") if isinstance(cls, Class) else None
        if method is not None:
            return None if _returns_nothing(method) else f"{cls.name}.set_more_shapes"
    return None


def _returns_nothing(method: ast.FunctionDef) -> bool:
    returned = [node.value for node in ast.walk(method) if isinstance(node, ast.Return)]
    return all(value is None or ast.unparse(value) in ("[]", "None") for value in returned)
