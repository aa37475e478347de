"""The static figures of a cubin: its launch attributes and its disassembly."""

from __future__ import annotations

import struct

from zlbench_core.ir.archive import Variant
from zlbench_core.ir.elf import MIN_STACK_SIZE, REGCOUNT, Elf, attributes
from zlbench_core.judge.ir.disassembly import Disassembly, disassemble_cubin
from zlbench_core.judge.ir.figures import Figures, Missing, code_bytes, or_missing
from zlbench_core.judge.ir.instructions import SASS, count_by_class, sass_mnemonics


def figures(variant: Variant, binary: Elf, sass: Disassembly | None) -> Figures:
    return {
        "registers": or_missing(_largest(binary, REGCOUNT), "the cubin has no register count"),
        "scalar_registers": Missing("a cubin does not count its uniform registers"),
        "local_bytes": or_missing(_largest(binary, MIN_STACK_SIZE), "the cubin has no stack size"),
        "shared_bytes": or_missing(variant.document["shared"], "the compiler's metadata has no `shared`"),
        "code_bytes": code_bytes(binary),
        **_from_code(sass or disassemble_cubin(variant.path / "cubin")),
    }


def _largest(binary: Elf, wanted: int) -> int | None:
    """The largest value of an attribute over the functions of a cubin; each holds a symbol and the value."""
    section = binary.section(".nv.info")
    pairs = attributes(section) if section else []
    return max(
        (struct.unpack("<II", raw)[1] for attribute, raw in pairs if attribute == wanted), default=None
    )


def _from_code(code: Disassembly) -> Figures:
    """Spills are counted as instructions: ptxas prints their bytes and writes them nowhere."""
    if code.instructions is None:
        return dict.fromkeys(("instructions", "spills", "spills_unit"), Missing(code.reason))
    classes = count_by_class(sass_mnemonics(code.instructions), SASS)
    return {
        "instructions": classes,
        "spills": classes.get("local_load", 0) + classes.get("local_store", 0),
        "spills_unit": "instructions on local memory",
    }
