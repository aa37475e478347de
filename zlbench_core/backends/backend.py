"""What a device backend is: names, visibility, enumeration, capabilities, and the words of its errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zlbench_core.backends.base import DeviceInfo
from zlbench_core.backends.errors_text import ErrorWords, mentions
from zlbench_core.backends.resolving import find_device


class DeviceBackend:
    """One kind of device. Nothing here imports torch or triton; `process_*` methods do, in a benchmark."""

    name: str
    aliases: tuple[str, ...] = ()
    visibility_keys: tuple[str, ...] = ()
    torch_device: str  # the device type that torch knows: "cuda", "musa", "npu", "cpu"
    gems_vendor: str | None = None
    graph_class: str | None = None  # as torch's device interface calls it; None: it captures no graphs
    supports_cuda_graph = False
    supports_mm_cluster_fix = False
    upstream_graph_timer = False  # whether upstream's do_bench_cudagraph is written for this device
    direct_flushes_l2 = True  # whether the driver's clear_cache empties a device cache
    compiles_without_device = False
    own_timer: tuple[str, str] | None = None  # (module, function) of a timer that the vendor's Triton brings
    compat_plugins: tuple[str, ...] = ()
    capture_deny_ops: frozenset[str] = frozenset()
    words = ErrorWords()

    def visibility_value(self, device: DeviceInfo) -> str:
        """What `apply_visibility` takes for `device`: the index, where the runtime knows no unique ids."""
        return str(device.index)

    def enumerate_devices(self) -> list[DeviceInfo]:
        """The devices of this machine. Raises DeviceError ("cannot enumerate ...") when that is not known."""
        raise NotImplementedError

    def resolve_device(self, device: str | int) -> DeviceInfo:
        """The device of an index, a uuid or a unique short uuid. Raises DeviceError naming the known ones."""
        return find_device(self.name, self.enumerate_devices(), device)

    def driver_version(self) -> str | None:
        """The driver's version, cheap enough to ask while Snakemake parses; None where it is not known."""
        return None

    def conditions(self, device: DeviceInfo) -> dict[str, object]:
        """Clocks, temperature, throttle reasons and foreign processes now. Never part of the identity."""
        return {}

    def disturbance(self, conditions: Mapping[str, object]) -> str | None:
        """Why a time measured under these conditions says nothing about the kernel; None where it does."""
        return None

    def denies_capture(self, op: str) -> bool:
        return op in self.capture_deny_ops

    def classify_capture_error(self, exc: BaseException) -> str:
        """The verdict on a failed capture: "fatal" over "poisoned" over "recoverable", on the whole chain.

        Unknown words are "recoverable": the caller proves with a health check that the device still works,
        and the direct timer that follows raises what the operator itself does wrong.
        """
        words = self.words
        if mentions(exc, (*words.sticky, *words.fatal, *words.environment, *words.device_fault)):
            return "fatal"
        return "poisoned" if mentions(exc, words.poisoned) else "recoverable"

    def classify_error(self, exc: BaseException) -> str:
        """The verdict outside a capture: "environment", "fatal" (sticky) or "failed" (this row only)."""
        words = self.words
        if mentions(exc, words.environment):
            return "environment"
        sticky = (*words.sticky, *words.poisoned, *words.device_fault)
        return "fatal" if mentions(exc, sticky) else "failed"

    def blame(self, exc: BaseException) -> str:
        """Whose failure it is: the "environment"'s, the "device"'s (hardware), or the "operator"'s."""
        if mentions(exc, self.words.environment):
            return "environment"
        return "device" if mentions(exc, self.words.device_fault) else "operator"

    def process_activate(self, target: str | None) -> None:
        """Make this process ready to launch kernels (cpu sets its driver; others need nothing)."""

    def process_compile_only(self) -> None:
        """In a process that only compiles: let tests run that ask for another device by name (cpu alone can)."""

    def process_give_back_pool(self, pool: Any) -> None:
        """End and drop the memory pool of a graph whose capture failed; a no-op where torch offers no way."""

    def process_device(self) -> dict[str, str | None]:
        """What the process runs on, read back: {"device": model, "device_uuid": ..., "driver": ...}."""
        raise NotImplementedError
