"""Validation against zlbench_core/campaign/schemas/*.yaml, with defaults filled and errors of one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from zlbench_core.common.places import SCHEMAS
from zlbench_core.common.spelling import did_you_mean
from zlbench_core.common.text import printable, shortened
from zlbench_core.errors import ConfigError, ZlbenchError

Complaint = Any  # a ValidationError, each of whose attributes its stubs take for possibly unset
_KINDS = {"array": "list", "object": "mapping"}  # as YAML calls them
_LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "minItems": "at least {} item",
    "minLength": "a text of at least {} character",
}


@cache
def load_schema(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = yaml.safe_load((SCHEMAS / f"{name}.schema.yaml").read_text(encoding="utf-8"))
    return schema


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(load_schema(name))


def validated(value: Mapping[str, Any], schema_name: str, source: str) -> dict[str, Any]:
    """A copy of `value` with the schema's defaults, or ConfigError naming the first bad value."""
    schema = load_schema(schema_name)
    filled: dict[str, Any] = _with_defaults(deepcopy(dict(value)), schema, schema)
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


def _one_line(error: Complaint, source: str) -> str:
    where = ".".join(str(part) for part in error.absolute_path)
    if error.validator == "additionalProperties":
        return _unknown_key(error, where, source)
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        return f"{'.'.join(filter(None, (where, missing)))} is missing in {source}"
    return f"{where} is {_short(error.instance)} in {source}; {_allowed(error)}"


def _unknown_key(error: Complaint, where: str, source: str) -> str:
    known = sorted(error.schema.get("properties", {}))
    unknown = sorted(set(error.instance) - set(known), key=str)[0]
    hint = did_you_mean(str(unknown), known) or f"allowed are {', '.join(known)}"
    told = shortened(printable(str(unknown)), 80)
    return f"unknown key {'.'.join(filter(None, (where, told)))} in {source}; {hint}"


def _allowed(error: Complaint) -> str:
    if error.validator == "enum":
        return f"allowed are {', '.join(map(str, error.validator_value))}"
    if error.validator == "type":
        return _allowed_types(error)
    if error.validator == "anyOf":
        return f"{' or '.join(map(_kind, error.validator_value))} is expected"
    if error.validator == "uniqueItems":
        return f"{_short(_repeated(error.instance))} may stand there once"
    if error.validator == "pattern" and "examples" in error.schema:
        return f"allowed is for example {' or '.join(error.schema['examples'])}"
    if error.validator == "pattern":
        return f"it must match {error.validator_value}"
    words = _LIMITS.get(error.validator, error.validator + " {}")
    return f"{words.format(error.validator_value)} is expected"


def _allowed_types(error: Complaint) -> str:
    if "enum" in error.schema:
        # YAML reads off and yes as truth values, and a user who wrote them meant the word.
        meant = [one for one in error.schema["enum"] if yaml.safe_load(str(one)) is error.instance]
        quoted = f': it must be quoted, as in "{meant[0]}"' if meant else ""
        return f"allowed are {', '.join(map(str, error.schema['enum']))}{quoted}"
    kinds: list[str] = (
        error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
    )
    # So with 1 and true, a number and a truth value.
    is_scalar = isinstance(error.instance, bool | int | float)
    quoted = ': it must be quoted, as in "1"' if kinds == ["string"] and is_scalar else ""
    return f"{' or '.join(_KINDS.get(kind, kind) for kind in kinds)} is expected{quoted}"


def _kind(choice: Mapping[str, Any]) -> str:
    """One of several schemas in a word; one that is only referred to is a mapping."""
    if "const" in choice:
        return str(choice["const"])
    return _KINDS.get(choice.get("type", "object"), str(choice.get("type")))


def _repeated(items: list[Any]) -> Any:
    return next(item for place, item in enumerate(items) if item in items[:place])


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
