"""The one check of a value against zlbench_core/campaign/schemas/*.yaml, with errors of one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import cache
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from zlbench_core.campaign.compiled_schemas import NotCompilable, compile_schema
from zlbench_core.campaign.schema_words import one_line
from zlbench_core.common.places import SCHEMAS
from zlbench_core.errors import ConfigError, ZlbenchError


@cache
def load_schema(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = yaml.safe_load((SCHEMAS / f"{name}.schema.yaml").read_text(encoding="utf-8"))
    return schema


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(load_schema(name))


@cache
def _surely_fits(schema_name: str) -> Callable[[Any], bool]:
    """Whether a value fits for sure, by a compiled schema where there can be one. False says nothing."""
    try:
        return compile_schema(load_schema(schema_name))
    except NotCompilable:
        return lambda value: False


def validated(value: Mapping[str, Any], schema_name: str, source: str) -> dict[str, Any]:
    """A copy of `value` with the schema's defaults, or ConfigError naming the first bad value."""
    schema = load_schema(schema_name)
    filled: dict[str, Any] = _with_defaults(deepcopy(dict(value)), schema, schema)
    check(filled, schema_name, source, ConfigError)
    return filled


def check(value: Any, schema_name: str, source: str, error_type: type[ZlbenchError]) -> None:
    """Raise `error_type` with one line when `value` does not fit the schema."""
    if _surely_fits(schema_name)(value):
        return
    error = best_match(_validator(schema_name).iter_errors(value))
    if error is not None:
        raise error_type(one_line(error, source))


def prepare(schema_name: str) -> None:
    """Read and compile what `check` needs of a schema, once for the processes that will be forked."""
    _surely_fits(schema_name)


def _with_defaults(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    for candidate in _object_schemas(schema, root):
        if not isinstance(value, dict):
            break
        for name, sub in candidate.get("properties", {}).items():
            if name not in value and "default" in sub:
                value[name] = deepcopy(sub["default"])
            if name in value:
                value[name] = _with_defaults(value[name], sub, root)
    return value


def _object_schemas(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        yield from _object_schemas(root["$defs"][name], root)
    for choice in schema.get("anyOf", ()):
        yield from _object_schemas(choice, root)
    if "properties" in schema:
        yield schema
