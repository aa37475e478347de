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


def readable(stage: str, data: bytes) -> str:
    """The stage as text without locations; a binary as its sections, or as its size where it has none."""
    _, text = _read(stage, data)
    return f"{len(data)} bytes of {stage}\n" if text is None else text


def normalise(stage: str, data: bytes) -> bytes:
    """The bytes by which two captures of a stage are equal or not. An opaque binary is compared whole."""
    kind, text = _read(stage, data)
    if text is None:
        return data
    return (numbered_values(text) if kind == "mlir" else text).encode()


def _read(stage: str, data: bytes) -> tuple[str, str | None]:
    """The form of a stage and its readable text; ("opaque", None) for a binary of no known form.

    The content decides the form, and the stage's name only where it does not: vendors name stages freely.
    """
    try:
        if data.startswith(elf.MAGIC):
            return "elf", elf.listing(data)
        text = data.decode("utf-8")
    except ValueError:
        return "opaque", None
    kind = next((kind for kind, pattern, _ in _READERS if pattern.search(text)), _BY_STAGE.get(stage, "text"))
    return kind, next((read(text) for name, _, read in _READERS if name == kind), text)
