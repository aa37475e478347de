"""The JSON schema of a run_identity.json whose run came to its end, made from the class Identity."""

from __future__ import annotations

from types import UnionType
from typing import Any, Union, get_args, get_origin

from zlbench_core.backends import get_backend, known_backends
from zlbench_core.providers import known_providers
from zlbench_core.records.described import Described, Slot, slots
from zlbench_core.records.identity_fields import Identity
from zlbench_core.timing.samples import CUDA_GRAPH, DIRECT

_KINDS = {str: "string", int: "integer", float: "number", bool: "boolean"}
_PLAIN = Described("")


def identity_schema() -> dict[str, Any]:
    schema = _object(Identity)
    for name, known in _what_exists().items():
        schema["properties"][name]["enum"] = known
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "run_identity.json of a run that came to its end",
        **schema,
    }


def _what_exists() -> dict[str, list[str]]:
    """The words that a backend or a provider brings, by the field in which they stand."""
    own = [timer[1] for name in known_backends() if (timer := get_backend(name).own_timer) is not None]
    return {
        "backend": list(known_backends()),
        "provider": list(known_providers()),
        "timer": [CUDA_GRAPH, DIRECT, *own, "none"],
    }


def _object(cls: type) -> dict[str, Any]:
    known = slots(cls)
    return {
        "type": "object",
        "required": [name for name, slot in known.items() if not slot.optional],
        "properties": {name: _property(slot) for name, slot in known.items()},
        "additionalProperties": False,
    }


def _property(slot: Slot) -> dict[str, Any]:
    told = slot.described or _PLAIN
    schema = _value(slot.kind, told) if slot.inner is None else _object(slot.inner)
    if told.choices:
        schema["enum"] = list(told.choices)
    return {"anyOf": [schema, {"type": "null"}]} if slot.optional else schema


def _value(kind: Any, told: Described) -> dict[str, Any]:
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return {}
    if origin in (Union, UnionType):
        return {"anyOf": [_value(one, told) for one in inner]}
    if origin is list:
        return {"type": "array", "items": _value(inner[0], told)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _value(inner[1], told)}
    schema: dict[str, Any] = {"type": _KINDS[kind]}
    if told.pattern is not None:
        schema["pattern"] = told.pattern
    if told.least is not None:
        schema["minimum"] = told.least
    return schema
