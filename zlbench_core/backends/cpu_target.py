"""The GPU targets that the cpu backend compiles for, and what the compiler asks about such a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zlbench_core.errors import ConfigError

if TYPE_CHECKING:
    from triton.backends.compiler import GPUTarget

DEFAULT_TARGET = "cuda:90"


@dataclass(frozen=True)
class Chip:
    """Bytes of shared memory that one block may have, lanes of a warp, and processors of a typical board."""

    shared_bytes: int
    warp_size: int
    processors: int


# Shared memory: CUDA C programming guide, technical specifications per compute capability (opt-in maximum of
# one block); AMD: LDS size of a workgroup from the LLVM AMDGPU processor tables.
CHIPS = {
    "cuda:75": Chip(65536, 32, 40),
    "cuda:80": Chip(166912, 32, 108),
    "cuda:86": Chip(101376, 32, 84),
    "cuda:89": Chip(101376, 32, 142),
    "cuda:90": Chip(232448, 32, 132),
    "cuda:100": Chip(232448, 32, 148),
    "cuda:120": Chip(101376, 32, 188),
    "hip:gfx90a": Chip(65536, 64, 104),
    "hip:gfx942": Chip(65536, 64, 304),
    "hip:gfx950": Chip(163840, 64, 256),
    "hip:gfx1100": Chip(65536, 32, 96),
    "hip:gfx1201": Chip(65536, 32, 64),
}


def chip_of(target: str) -> Chip:
    """The chip that a target names. Raises ConfigError for a target that is not known."""
    try:
        return CHIPS[target]
    except KeyError:
        known = ", ".join(CHIPS)
        raise ConfigError(f"target {target!r} of the cpu backend is not known; allowed: {known}") from None


def parse_target(text: str) -> GPUTarget:
    """Triton's description of a target such as "cuda:90" or "hip:gfx942".

    Raises ConfigError for a target that is not known.
    """
    chip = chip_of(text)
    from triton.backends.compiler import GPUTarget

    kind, _, arch = text.partition(":")
    return GPUTarget(kind, int(arch) if kind == "cuda" else arch, chip.warp_size)


def device_properties(target: str) -> dict[str, Any]:
    """What a driver's get_device_properties tells about the target: bytes, lanes and counts."""
    chip = chip_of(target)
    return {
        "max_shared_mem": chip.shared_bytes,
        "max_num_regs": 65536,
        "multiprocessor_count": chip.processors,
        "warpSize": chip.warp_size,
    }
