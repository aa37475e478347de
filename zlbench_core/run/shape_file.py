"""A campaign's shape_file, read before anything runs: what the suite would fail on late, or pass over in silence."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Set
from functools import lru_cache
from typing import Any

import yaml

from zlbench_core.campaign.model import RecordAsked
from zlbench_core.campaign.parts import Subject
from zlbench_core.campaign.yaml_file import LOADER, yaml_mistake
from zlbench_core.common.spelling import did_you_mean
from zlbench_core.common.text import printable, shortened
from zlbench_core.errors import PreflightError
from zlbench_core.providers import get_provider
from zlbench_core.providers.nodes import strings_of

MAX_BYTES = 1 << 20  # the largest known, of 97 operators, has 17 kB
EXPECTED = "{shapes: [[16, 64], ...]} is expected"


def check_shape_file(subject: Subject) -> None:
    """Raises PreflightError in one line that names the file, the key and what is allowed."""
    if subject.shape_file is None:
        return
    table = read_shapes(subject.shape_file)
    names = get_provider(subject.provider).shape_names(subject)
    # Names first: what is odd in an entry of another suite's file is no mistake in it.
    for name in () if names is None else table:
        if names is not None and name not in names and not _is_anchor(table, name, names):
            raise _refused(subject.shape_file, _unknown(name, names, subject.provider))
    for name, entry in table.items():
        problem = _entry_problem(entry, flat=names is not None)
        if problem is not None:
            raise _refused(subject.shape_file, f"{_told(name)}: {problem}")


def shape_notes(asked: RecordAsked) -> list[str]:
    """The operators whose shapes a checked shape_file leaves as they are, in one line."""
    subject = asked.subject
    if subject.shape_file is None:
        return []
    table = read_shapes(subject.shape_file)
    unnamed = [op for op in subject.ops if not _is_named(asked, op, table)]
    if not unnamed:
        return []
    keeps = "keeps its class's" if len(unnamed) == 1 else "keep their classes'"
    return [f"shape_file {subject.shape_file} does not name {', '.join(unnamed)}, which {keeps} shapes"]


def read_shapes(path: str) -> dict[Any, Any]:
    """The file's mapping, its entries not checked. Raises PreflightError."""
    try:
        with open(path, "rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        told = "is not a file" if not os.path.isfile(path) else f"cannot be read: {error.strerror}"
        raise PreflightError("shape_file", f"shape_file {path} {told}") from None
    if len(content) > MAX_BYTES:
        raise _refused(path, f"larger than {MAX_BYTES >> 20} MiB; a YAML file of shapes is expected")
    return _table(path, content)


@lru_cache(maxsize=4)  # each side asks, and the notes
def _table(path: str, content: bytes) -> dict[Any, Any]:
    try:
        table = yaml.load(content, LOADER)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _refused(path, f"invalid YAML: {yaml_mistake(error)}") from None
    if not isinstance(table, dict) or not table:
        raise _refused(path, f"{_told(table)}; a mapping of operators or benchmark classes is expected")
    return table


def _entry_problem(entry: Any, *, flat: bool) -> str | None:
    """What is wrong with an operator's entry; `flat` shapes hold positive integers alone."""
    if not isinstance(entry, dict):
        return f"{_told(entry)}; {EXPECTED}"
    if "shapes" not in entry:
        found = ", ".join(map(_told, list(entry)[:5])) or "nothing"
        return f"no key shapes, found {found}; {EXPECTED}"
    shapes = entry["shapes"]
    if not isinstance(shapes, list) or not shapes:
        return f"shapes is {_told(shapes)}; a list of shapes such as [[16, 64], [8, 512]] is expected"
    kind = "a list of positive integers" if flat else "a list"
    told = (f"shapes holds {_told(shape)}" for shape in shapes if not _is_shape(shape, flat))
    return next((f"{one}; {kind} such as [16, 64] is expected for each shape" for one in told), None)


def _is_shape(shape: Any, flat: bool) -> bool:
    if not isinstance(shape, list) or not shape:
        return False
    return not flat or all(type(size) is int and size > 0 for size in shape)


def _is_anchor(table: dict[Any, Any], name: Any, names: Set[str]) -> bool:
    """Whether `name` only carries the YAML anchor of entries below it, whose names are known."""
    order = list(table)
    below = order[order.index(name) + 1 :]
    shapes = _shapes_of(table[name])
    return shapes is not None and any(_shapes_of(table[one]) is shapes for one in below if one in names)


def _shapes_of(entry: Any) -> Any:
    return entry.get("shapes") if isinstance(entry, dict) else None


def _unknown(name: Any, names: Set[str], provider: str) -> str:
    hint = did_you_mean(str(name), names) or f"known are {', '.join(sorted(names))}"
    return f"{_told(name)} is neither an operator nor a benchmark class of provider {provider}; {shortened(hint, 400)}"


def _is_named(asked: RecordAsked, op: str, table: dict[Any, Any]) -> bool:
    """By its own name, or by the op_name that its test gives to the benchmark."""
    invocation = get_provider(asked.subject.provider).invocation(asked, asked.subject.sides[0], op)
    return op in table or bool(strings_of(invocation.test_file, f"test_{op}") & table.keys())


def _refused(path: str, problem: str) -> PreflightError:
    return PreflightError("shape_file", f"shape_file {path}: {problem}")


def _told(value: Any) -> str:
    """Short whatever it is: aliases make a small file a huge value."""
    text = value if isinstance(value, str) and value.isidentifier() else reprlib.repr(value)
    return shortened(printable(text), 80)
