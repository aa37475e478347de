"""What makes two captures the same kernel variant, and what makes their stages equal."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zlbench_core.common.files import digest_of
from zlbench_core.ir.normalise import normalise

LAUNCH_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
_NOT_OPTIONS = {*LAUNCH_OPTIONS, "hash", "name", "target", "shared"}
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


@dataclass(frozen=True)
class VariantFacts:
    """One compiled variant as its source and its compiler's metadata describe it; values are plain JSON.

    `signature`, `constexprs` and `attributes` are keyed by the argument's position ("3", or "3.0" inside a
    tuple), so that a renamed argument is no other variant. `options` is everything else that the compiler was
    given: it may be what a switch changes, so it is told and is no part of the identity.
    """

    kernel: str
    arguments: tuple[str, ...]
    signature: Mapping[str, Any]
    constexprs: Mapping[str, Any]
    attributes: Mapping[str, Any]
    launch: Mapping[str, Any]
    target: Mapping[str, Any]
    options: Mapping[str, Any]
    shared: int | None  # bytes of shared memory asked for at launch

    @property
    def variant_id(self) -> str:
        """16 hex digits: equal for the same kernel, signature, constexprs, attributes and launch options."""
        return digest_of([self.kernel, self.signature, self.constexprs, self.attributes, self.launch])

    def name(self, position: str) -> str:
        """How the source calls the argument at a position; the position, where it has no name."""
        index, dot, inner = position.partition(".")
        known = index.isdigit() and int(index) < len(self.arguments)
        return f"{self.arguments[int(index)]}{dot}{inner}" if known else position


def facts_of(source: Any, metadata: Mapping[str, Any]) -> VariantFacts:
    """The facts of what Triton compiled: its ASTSource or IRSource, and the compiled kernel's metadata."""
    arguments = tuple(str(name) for name in getattr(getattr(source, "fn", None), "arg_names", ()))
    return VariantFacts(
        kernel=source.name,
        arguments=arguments,
        signature=_by_position(source.signature, arguments),
        constexprs=_by_position(getattr(source, "constants", {}), arguments),
        attributes=_attributes(getattr(source, "attrs", {}), arguments),
        launch={name: stable(metadata.get(name)) for name in LAUNCH_OPTIONS},
        target=_target(metadata.get("target")),
        options={name: stable(value) for name, value in sorted(metadata.items()) if name not in _NOT_OPTIONS},
        shared=metadata.get("shared"),
    )


def stable(value: Any) -> Any:
    """`value` as JSON that is the same in every process: no addresses, and a function is its name."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): stable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = [stable(item) for item in value]
        return sorted(items, key=str) if isinstance(value, set | frozenset) else items
    if type(value).__name__ == "constexpr":
        return stable(value.value)
    return getattr(value, "__name__", None) or _ADDRESS.sub("", str(value))


def raw_digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def normalised_digest(stage: str, data: bytes) -> str:
    """The sha256 of a stage without what only says where its source stood (see normalise.py)."""
    return raw_digest(normalise(stage, data))


def _by_position(values: Mapping[Any, Any], arguments: tuple[str, ...]) -> dict[str, Any]:
    return {_position(key, arguments): stable(value) for key, value in values.items()}


def _position(key: Any, arguments: tuple[str, ...]) -> str:
    """Triton 3.3 and later key by path, (3,) or (3, 0); earlier ones by index or by name."""
    if isinstance(key, tuple):
        return ".".join(str(part) for part in key)
    return str(arguments.index(key)) if key in arguments else str(key)


def _attributes(attributes: Any, arguments: tuple[str, ...]) -> dict[str, Any]:
    """The specialisation: a mapping by path since Triton 3.3, before that an object that has `to_dict`.

    Newer ones list arguments without a specialisation too (3.9): an empty list says what a missing one said.
    """
    if isinstance(attributes, Mapping):
        return _by_position({path: known for path, known in attributes.items() if known}, arguments)
    return stable(attributes.to_dict())


def _target(target: Any) -> dict[str, Any]:
    """Triton's GPUTarget, which a kernel's stored metadata may hold as a mapping."""
    fields = target if isinstance(target, Mapping) else vars(target)
    return {name: stable(value) for name, value in fields.items()}
