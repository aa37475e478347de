"""A schema compiled to Python code, for files of which there are hundreds: jsonschema needs ten times as long.

What the compiled code accepts, the schema accepts. What it does not accept is for jsonschema to judge and to put in
words; schema_files.check asks both, and nobody else asks either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

_NOTES = {"$schema", "title", "description", "examples"}
_CHILD = ("items", "additionalProperties", "if", "then", "else")
_CHILDREN = ("properties", "$defs")
_PLAIN = {"type", "required", "enum", "const", "pattern", "minimum"}


class NotCompilable(ValueError):
    """The schema means something else to the compiler, which knows older drafts alone."""


def compile_schema(schema: Mapping[str, Any]) -> Callable[[Any], bool]:
    """The schema as a function, which says whether a value fits for sure. Raises NotCompilable."""
    if told := next(_other_meanings(schema), None):
        raise NotCompilable(told)
    import fastjsonschema

    compiled = fastjsonschema.compile(
        {**schema, "$schema": "http://json-schema.org/draft-07/schema#"}, use_default=False
    )

    def fits(value: Any) -> bool:
        try:
            compiled(value)
        except fastjsonschema.JsonSchemaValueException:
            return False
        return True

    return fits


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
