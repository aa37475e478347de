"""The figures of a static cost, and what a reader of a binary says where it has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zlbench_core.ir.elf import Elf

FIGURES = (
    "registers",  # vector registers per thread
    "scalar_registers",  # per wave, where the device has them apart
    "spills",  # in the unit that `spills_unit` names
    "spills_unit",
    "shared_bytes",  # per block, as asked for at launch and fixed by the binary
    "local_bytes",  # per thread
    "code_bytes",  # of all code sections, padding included
    "instructions",  # {class: count}, classes in instructions.py
)


@dataclass(frozen=True)
class Missing:
    reason: str


Figures = Mapping[str, Any]


def or_missing(value: Any, reason: str) -> Any:
    return Missing(reason) if value is None else value


def code_bytes(binary: Elf) -> int | Missing:
    sizes = [section.size for section in binary.sections if section.name.startswith(".text")]
    return sum(sizes) if sizes else Missing("the binary has no code section")
