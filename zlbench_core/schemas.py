"""Validation against workflow/schemas/*.yaml, with defaults filled and errors of one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import best_match

from zlbench_core.errors import ConfigError, ZlbenchError
from zlbench_core.spelling import did_you_mean

SCHEMA_DIR = Path(__file__).parent.parent / "workflow" / "schemas"


@cache
def load_schema(name: str) -> dict[str, Any]:
    return yaml.safe_load((SCHEMA_DIR / f"{name}.schema.yaml").read_text(encoding="utf-8"))


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(load_schema(name))


def validated(value: Mapping[str, Any], schema_name: str, source: str) -> dict[str, Any]:
    """A copy of `value` with the schema's defaults, or ConfigError naming the first bad value."""
    schema = load_schema(schema_name)
    filled = _with_defaults(deepcopy(dict(value)), schema, schema)
    check(filled, schema_name, source, ConfigError)
    return filled


def check(value: Any, schema_name: str, source: str, error_type: type[ZlbenchError]) -> None:
    """Raise `error_type` with one line when `value` does not fit the schema."""
    error = best_match(_validator(schema_name).iter_errors(value))
    if error is not None:
        raise error_type(_one_line(error, source))


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


def _one_line(error: ValidationError, source: str) -> str:
    where = ".".join(str(part) for part in error.absolute_path)
    if error.validator == "additionalProperties":
        return _unknown_key(error, where, source)
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        return f"{'.'.join(filter(None, (where, missing)))} is missing in {source}"
    return f"{where} is {_short(error.instance)} in {source}; {_allowed(error)}"


def _unknown_key(error: ValidationError, where: str, source: str) -> str:
    known = sorted(error.schema.get("properties", {}))
    unknown = sorted(set(error.instance) - set(known), key=str)[0]
    hint = did_you_mean(str(unknown), known) or f"allowed are {', '.join(known)}"
    return f"unknown key {'.'.join(filter(None, (where, str(unknown))))} in {source}; {hint}"


def _allowed(error: ValidationError) -> str:
    if error.validator == "enum":
        return f"allowed are {', '.join(map(str, error.validator_value))}"
    if error.validator == "type":
        kinds = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
        # YAML reads 1 and true as a number and a truth value, and a user who wrote them meant text.
        quoted = (
            ': it must be quoted, as in "1"' if kinds == ["string"] and _is_scalar(error.instance) else ""
        )
        return f"{' or '.join(kinds)} is expected{quoted}"
    if error.validator == "pattern" and "examples" in error.schema:
        return f"allowed is for example {' or '.join(error.schema['examples'])}"
    if error.validator == "pattern":
        return f"it must match {error.validator_value}"
    return f"{error.validator} {error.validator_value} is expected"


def _is_scalar(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
