"""The static figures of an AMDGPU code object: its metadata note, and the assembler text beside it."""

from __future__ import annotations

from typing import Any

from zlbench_core.ir.archive import Variant
from zlbench_core.ir.elf import Elf, notes
from zlbench_core.judge.ir.disassembly import Disassembly
from zlbench_core.judge.ir.figures import Figures, Missing, code_bytes, or_missing
from zlbench_core.judge.ir.instructions import GCN, count_by_class, gcn_mnemonics

_NT_AMDGPU_METADATA = 32
_FROM_METADATA = ("registers", "scalar_registers", "spills", "spills_unit", "local_bytes", "shared_bytes")


def figures(variant: Variant, binary: Elf, _: Disassembly | None) -> Figures:
    kernel = _kernel_metadata(binary)
    told = (
        dict.fromkeys(_FROM_METADATA, kernel) if isinstance(kernel, Missing) else _resources(variant, kernel)
    )
    return {**told, "code_bytes": code_bytes(binary), "instructions": _instructions(variant)}


def _kernel_metadata(binary: Elf) -> dict[str, Any] | Missing:
    """The first kernel's entry: msgpack in a note ("Code Object Metadata" in LLVM's AMDGPU user guide)."""
    try:
        import msgpack
    except ImportError:
        return Missing("msgpack is not installed")
    section = binary.section(".note")
    found = [content for kind, content in notes(section) if kind == _NT_AMDGPU_METADATA] if section else []
    kernels = msgpack.unpackb(found[0]).get("amdhsa.kernels") if found else None
    return kernels[0] if kernels else Missing("the code object has no kernel metadata")


def _resources(variant: Variant, kernel: dict[str, Any]) -> Figures:
    spilled = [kernel.get(".vgpr_spill_count"), kernel.get(".sgpr_spill_count")]
    shared = [variant.document["shared"], kernel.get(".group_segment_fixed_size")]
    return {
        "registers": or_missing(kernel.get(".vgpr_count"), "no .vgpr_count"),
        "scalar_registers": or_missing(kernel.get(".sgpr_count"), "no .sgpr_count"),
        "spills": Missing("no spill counts") if None in spilled else sum(spilled),
        "spills_unit": "registers, vector and scalar",
        "local_bytes": or_missing(
            kernel.get(".private_segment_fixed_size"), "no .private_segment_fixed_size"
        ),
        "shared_bytes": Missing("the size at launch or in the binary is not told")
        if None in shared
        else sum(shared),
    }


def _instructions(variant: Variant) -> dict[str, int] | Missing:
    if "amdgcn" not in variant.stages:
        return Missing("the stage amdgcn was not captured")
    return count_by_class(gcn_mnemonics(variant.read_stage("amdgcn").decode("utf-8")), GCN)
