"""A schema compiled to Python code, for files of which there are hundreds: jsonschema needs ten times as long.

What the compiled code accepts, the schema accepts. What it does not accept is for schemas.check to judge and to put
in words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from zlbench_core.campaign.schema_files import load_schema

_NOTES = {"$schema", "title", "description", "examples"}
_CHILD = ("items", "additionalProperties", "if", "then", "else")
_CHILDREN = ("properties", "$defs")
_PLAIN = {"type", "required", "enum", "const", "pattern", "minimum"}


def surely_fits(value: Any, schema_name: str) -> bool:
    """Whether `value` fits the schema for sure. False says nothing: then schemas.check decides."""
    import fastjsonschema

    try:
        compiled(schema_name)(value)
    except fastjsonschema.JsonSchemaValueException:
        return False
    return True


@cache
def compiled(schema_name: str) -> Callable[[Any], Any]:
    """The schema as a function, which raises JsonSchemaValueException for a value that does not fit.

    Raises ValueError for a schema that means something else to the compiler, which knows older drafts alone.
    """
    import fastjsonschema

    schema = load_schema(schema_name)
    if told := next(_other_meanings(schema), None):
        raise ValueError(f"schema {schema_name} cannot be compiled: {told}")
    draft_7 = {**schema, "$schema": "http://json-schema.org/draft-07/schema#"}
    return fastjsonschema.compile(draft_7, use_default=False)


def _other_meanings(schema: Any) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        if not isinstance(schema, bool):
            yield f"{schema!r} is no schema"
        return
    if unknown := schema.keys() - _NOTES - _PLAIN - {*_CHILD, *_CHILDREN, "$ref"}:
        yield f"{min(unknown)} may mean something else in draft 7"
    if "$ref" in schema and schema.keys() - _NOTES - {"$ref"}:
        yield f"what stands beside $ref {schema['$ref']} is no part of draft 7"
    values = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())]
    # To Python 1 is true: where a type beside it does not tell them apart, the compiled code would not.
    if schema.get("type") != "integer" and not all(one is None or isinstance(one, str) for one in values):
        yield f"{values} are not told from equal values of another type"
    for name in _CHILD:
        yield from _other_meanings(schema.get(name, True))
    for name in _CHILDREN:
        for child in schema.get(name, {}).values():
            yield from _other_meanings(child)
