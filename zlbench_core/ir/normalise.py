"""What is left of a compiler stage when everything that only says where the source stood is taken away.

`readable` strips locations and keeps the names, for people; `normalise` also numbers the SSA values by their
first appearance, because Triton 3.5 and later derive a value's printed name from its location. A device
binary becomes the list of its code and data sections (see elf.py).

One thing looks like a location and is code: with `debug=True` a device assertion carries its file and line
into the binary, so that a moved checkout really is another binary there.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from zlbench_core.ir import elf
from zlbench_core.ir.assembly import readable_gas, readable_ptx
from zlbench_core.ir.llvm import readable_llvm
from zlbench_core.ir.mlir import numbered_values, readable_mlir

VERSION = 1
"""Changes with every change of a rule, so that digests made by other rules are made anew, not compared."""

_LLVM = re.compile(r"^(source_filename = |target datalayout = |; ModuleID)", re.MULTILINE)
_PTX = re.compile(r"^\.version [\d.]+\s*\n\.target sm_", re.MULTILINE)
_GAS = re.compile(r"^\s*\.(amdgcn_target|amdgpu_metadata)\b", re.MULTILINE)
_MLIR = re.compile(r"^\s*(builtin\.)?module\b|^#loc\d* = loc\(|\b(tt|func|llvm)\.func\b", re.MULTILINE)
_READERS: tuple[tuple[str, re.Pattern[str], Callable[[str], str]], ...] = (
    ("llvm", _LLVM, readable_llvm),
    ("ptx", _PTX, readable_ptx),
    ("gas", _GAS, readable_gas),
    ("mlir", _MLIR, readable_mlir),
)
_BY_STAGE = {"ttir": "mlir", "ttgir": "mlir", "llir": "llvm", "ptx": "ptx"}


def kind_of(stage: str, data: bytes) -> str:
    """The form of a stage: "elf", "llvm", "ptx", "gas", "mlir", "text", or "opaque" for any other binary.

    The content decides and the stage's name only where it does not, because vendors name their stages freely.
    """
    if data.startswith(elf.MAGIC):
        return "elf" if elf.is_readable(data) else "opaque"
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return "opaque"
    found = next((kind for kind, pattern, _ in _READERS if pattern.search(text)), None)
    return found or _BY_STAGE.get(stage, "text")


def readable(stage: str, data: bytes) -> str:
    """The stage as text without locations; a binary as its sections, or as its size where it has none."""
    kind = kind_of(stage, data)
    if kind == "elf":
        return elf.listing(data)
    if kind == "opaque":
        return f"{len(data)} bytes of {stage}\n"
    text = data.decode("utf-8")
    return next((read(text) for name, _, read in _READERS if name == kind), text)


def normalise(stage: str, data: bytes) -> bytes:
    """The bytes by which two captures of a stage are equal or not. An opaque binary is compared whole."""
    kind = kind_of(stage, data)
    if kind == "opaque":
        return data
    text = readable(stage, data)
    return (numbered_values(text) if kind == "mlir" else text).encode()
