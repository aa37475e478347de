"""What is wrong with a value that a schema does not take, in one line: the value, where it stands, what is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from jsonschema import ValidationError

from zlbench_core.common.spelling import did_you_mean
from zlbench_core.common.text import printable, shortened

_KINDS = {"array": "list", "object": "mapping"}  # as YAML calls them
_LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "minItems": "at least {} item",
    "minLength": "a text of at least {} character",
}


@dataclass(frozen=True)
class _Refusal:
    """What jsonschema found: `rule`, a keyword of the schema, asks for `wanted`, and `found` stands at `where`."""

    where: str
    rule: str
    wanted: Any
    found: Any
    schema: Mapping[str, Any]


def one_line(error: ValidationError, source: str) -> str:
    """`source`: what holds the value, as a user calls it."""
    where = ".".join(str(part) for part in error.absolute_path)
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    return _told(_Refusal(where, str(error.validator), error.validator_value, error.instance, schema), source)


def _told(one: _Refusal, source: str) -> str:
    if one.rule == "additionalProperties":
        return _unknown_key(one, source)
    if one.rule == "required":
        missing = next(name for name in one.wanted if name not in one.found)
        return f"{'.'.join(filter(None, (one.where, missing)))} is missing in {source}"
    return f"{one.where} is {_short(one.found)} in {source}; {_allowed(one)}"


def _unknown_key(one: _Refusal, source: str) -> str:
    known = sorted(one.schema.get("properties", {}))
    unknown = sorted(set(one.found) - set(known), key=str)[0]
    hint = did_you_mean(str(unknown), known) or f"allowed are {', '.join(known)}"
    told = shortened(printable(str(unknown)), 80)
    return f"unknown key {'.'.join(filter(None, (one.where, told)))} in {source}; {hint}"


def _allowed(one: _Refusal) -> str:
    if one.rule == "enum":
        return f"allowed are {', '.join(map(str, one.wanted))}"
    if one.rule == "type":
        return _allowed_types(one)
    if one.rule == "anyOf":
        return f"{' or '.join(map(_kind, one.wanted))} is expected"
    if one.rule == "uniqueItems":
        return f"{_short(_repeated(one.found))} may stand there once"
    if one.rule == "pattern" and "examples" in one.schema:
        return f"allowed is for example {' or '.join(one.schema['examples'])}"
    if one.rule == "pattern":
        return f"it must match {one.wanted}"
    return f"{_LIMITS.get(one.rule, one.rule + ' {}').format(one.wanted)} is expected"


def _allowed_types(one: _Refusal) -> str:
    if "enum" in one.schema:
        # YAML reads off and yes as truth values, and a user who wrote them meant the word.
        meant = [word for word in one.schema["enum"] if yaml.safe_load(str(word)) is one.found]
        quoted = f': it must be quoted, as in "{meant[0]}"' if meant else ""
        return f"allowed are {', '.join(map(str, one.schema['enum']))}{quoted}"
    kinds: list[str] = one.wanted if isinstance(one.wanted, list) else [one.wanted]
    # So with 1 and true, a number and a truth value.
    is_scalar = isinstance(one.found, bool | int | float)
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
