"""What a device backend is: names, visibility, enumeration, capabilities, and the words of its errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ALL_VISIBILITY_KEYS = (
    "CUDA_VISIBLE_DEVICES",
    "MUSA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "ASCEND_RT_VISIBLE_DEVICES",
    "ASCEND_VISIBLE_DEVICES",
)


@dataclass(frozen=True)
class DeviceInfo:
    """One device as the vendor's tool lists it. What the tool does not tell is None."""

    index: int
    uuid: str | None = None
    name: str | None = None
    memory_mib: int | None = None
    driver: str | None = None
    parent: str | None = None  # the uuid of the device that this one is a slice of
    usable: bool = True
    note: str | None = None
    bus_id: str | None = None
    used_mib: int | None = None


class DeviceBackend:
    """The contract. Nothing here imports torch or triton; `process_*` methods do, in a benchmark."""

    name: str
    aliases: tuple[str, ...] = ()
    visibility_keys: tuple[str, ...] = ()
    torch_device: str  # the device type that torch knows: "cuda", "musa", "npu", "cpu"
    gems_vendor: str | None = None
    supports_cuda_graph = False
    supports_mm_cluster_fix = False
    compiles_without_device = False
    compat_plugins: tuple[str, ...] = ()
    capture_deny_ops: frozenset[str] = frozenset()

    def apply_visibility(self, env: Mapping[str, str], device: str | int) -> dict[str, str]:
        """A new environment in which only `device` is visible; other backends' variables are dropped."""
        raise NotImplementedError

    def enumerate_devices(self) -> list[DeviceInfo]:
        """The devices of this machine. Raises DeviceError ("cannot enumerate ...") when that is not known."""
        raise NotImplementedError

    def resolve_device(self, device: str | int) -> DeviceInfo:
        """The device of an index, a uuid or a unique short uuid. Raises DeviceError naming the known ones."""
        raise NotImplementedError

    def driver_version(self) -> str | None:
        """The driver's version, cheap enough to ask while Snakemake parses; None where it is not known."""
        return None

    def conditions(self, device: DeviceInfo) -> dict[str, object]:
        """Clocks, temperature, throttle reasons and foreign processes now. Never part of the identity."""
        return {}

    def disturbance(self, conditions: Mapping[str, object]) -> str | None:
        """Why a time measured under these conditions says nothing about the kernel; None where it does."""
        return None

    def classify_capture_error(self, exc: BaseException) -> str:
        """Judge a failed graph capture: "recoverable", "fatal" or "poisoned"; the worst of the chain wins."""
        raise NotImplementedError

    def denies_capture(self, op: str) -> bool:
        return op in self.capture_deny_ops

    def process_activate(self, target: str | None) -> None:
        """Make this process ready to launch kernels (cpu sets its driver; others need nothing)."""

    def process_compile_only(self) -> None:
        """In a process that only compiles: let tests run that ask for another device by name (cpu alone can)."""

    def process_device(self) -> dict[str, str | None]:
        """What the process runs on, read back: {"device": model, "device_uuid": ..., "driver": ...}."""
        raise NotImplementedError
