"""What the compiled schema of a gate accepts, jsonschema accepts: it may only save time, never a complaint."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest

from tests import DATA
from zlbench_core.campaign import schema_files
from zlbench_core.campaign.compiled_schemas import NotCompilable, compile_schema
from zlbench_core.campaign.schema_files import check
from zlbench_core.errors import ArchiveError

GATE = DATA / "campaign-cpu/results/cpu/mm/ir_gate.json"
COST = {
    "code_bytes": 1536,
    "instructions": {"control": 3, "float": 16},
    "local_bytes": 0,
    "reasons": {"scalar_registers": "a cubin does not count its uniform registers"},
    "registers": 32,
    "scalar_registers": None,
    "shared_bytes": 0,
    "spills": 0,
    "spills_unit": "instructions on local memory",
    "stage": "cubin",
}
OTHERS = (
    None,
    True,
    False,
    0,
    1,
    -1,
    1.0,
    2,
    float("nan"),
    "",
    "a",
    "identical",
    "a" * 64 + "\n",
    [],
    [1],
    {},
    {"a": 1},
)


@pytest.fixture(scope="module")
def gate() -> dict[str, Any]:
    """A gate with a cost on both sides."""
    document = json.loads(GATE.read_text())
    document["variants"][0]["cost"] = {"a": COST, "b": {**COST, "registers": 40}, "change": {"registers": 8}}
    document["cost_change"] = {**document["cost_change"], "registers": {"min": 8, "max": 8}}
    return document


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in inner:
        yield from places(part, (*path, name))


def changed(
    document: dict[str, Any], path: tuple[Any, ...], change: Callable[[Any, Any], None]
) -> dict[str, Any]:
    copy = deepcopy(document)
    holder = copy
    for name in path[:-1]:
        holder = holder[name]
    change(holder, path[-1])
    return copy


def surely_fits(document: dict[str, Any]) -> bool:
    return schema_files._surely_fits("ir_gate")(document)


def fits(document: dict[str, Any]) -> bool:
    """What jsonschema says, asked alone."""
    return schema_files._validator("ir_gate").is_valid(document)


def mutants(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in places(document):
        if path:
            yield from (
                changed(document, path, lambda at, name, to=to: at.__setitem__(name, to)) for to in OTHERS
            )
            yield changed(document, path, lambda at, name: at.pop(name))
    for path in places(document):
        yield changed(document, (*path, "unknown"), _add)


def _add(holder: Any, name: str) -> None:
    if isinstance(holder, dict):
        holder[name] = 1


def test_a_gate_as_it_is_written_is_accepted_without_jsonschema(gate, monkeypatch):
    monkeypatch.setattr(schema_files, "_validator", pytest.fail)
    check(gate, "ir_gate", "the gate", ArchiveError)


def test_whatever_is_changed_in_a_gate_the_compiled_schema_accepts_no_more_than_jsonschema(gate):
    judged = [(surely_fits(one), fits(one)) for one in mutants(gate)]
    assert (True, False) not in judged
    assert judged.count((False, False)) > 500


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"prefixItems": [{"type": "string"}]}, "prefixItems may mean something else"),
        ({"properties": {"a": {"const": 1}}}, r"\[1\] are not told from"),
        ({"items": {"enum": [True]}}, r"\[True\] are not told from"),
        ({"items": {"$ref": "#/$defs/x", "minimum": 0}, "$defs": {"x": {}}}, "beside \\$ref"),
    ],
)
def test_a_schema_that_means_something_else_to_the_compiler_is_not_compiled(schema, message):
    with pytest.raises(NotCompilable, match=message):
        compile_schema(schema)


def test_a_gate_that_does_not_fit_is_put_in_words(gate):
    with pytest.raises(ArchiveError, match=r"^verdict is 'alike' in the gate; allowed are "):
        check({**gate, "verdict": "alike"}, "ir_gate", "the gate", ArchiveError)


def test_nobody_else_asks_either_engine():
    from zlbench_core.common.places import PACKAGE

    engines = ("import fastjsonschema", "import jsonschema", "from jsonschema", "compile_schema")
    asking = {path.name for path in PACKAGE.rglob("*.py") if any(one in path.read_text() for one in engines)}
    assert asking == {"compiled_schemas.py", "schema_files.py", "schema_words.py"}
