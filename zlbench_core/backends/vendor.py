"""What all backends share: a mask, the resolving of a device, and the verdicts on errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zlbench_core.backends.base import ALL_VISIBILITY_KEYS, DeviceBackend, DeviceInfo
from zlbench_core.backends.errors_text import ErrorWords, mentions
from zlbench_core.backends.resolving import find_device


class VendorBackend(DeviceBackend):
    words = ErrorWords()
    own_timer: tuple[str, str] | None = None  # (module, function) of a timer that the vendor's Triton brings
    upstream_graph_timer = False  # whether upstream's do_bench_cudagraph is written for this device
    direct_flushes_l2 = True  # whether the driver's clear_cache empties a device cache

    def apply_visibility(self, env: Mapping[str, str], device: str | int) -> dict[str, str]:
        """A new environment in which only `device` is visible, in the form that `visibility_value` gives."""
        kept = {key: value for key, value in env.items() if key not in ALL_VISIBILITY_KEYS}
        return kept | dict.fromkeys(self.visibility_keys, str(device))

    def visibility_value(self, device: DeviceInfo) -> str:
        """What `apply_visibility` takes for `device`: the index, where the runtime knows no unique ids."""
        return str(device.index)

    def resolve_device(self, device: str | int) -> DeviceInfo:
        return find_device(self.name, self.enumerate_devices(), device)

    def process_give_back_pool(self, pool: Any) -> None:
        """End and drop the memory pool of a graph whose capture failed; a no-op where torch offers no way."""

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
