"""A device's momentary conditions through NVML. Reported beside the rows, never part of an identity."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

from zlbench_core.backends.base import DeviceInfo

# nvml.h, nvmlClocksEventReasons: the bits of the mask.
THROTTLE_BITS = {
    0x001: "gpu_idle",
    0x002: "applications_clocks_setting",
    0x004: "sw_power_cap",
    0x008: "hw_slowdown",
    0x010: "sync_boost",
    0x020: "sw_thermal_slowdown",
    0x040: "hw_thermal_slowdown",
    0x080: "hw_power_brake_slowdown",
    0x100: "display_clock_setting",
}


# These fall upon whoever runs just then. A power cap is not among them: a kernel that draws much power meets it
# always, and that is part of its time.
DISTURBING = ("hw_slowdown", "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown")


def disturbing(reasons: object) -> list[str]:
    """Those of the throttle reasons that make a time say nothing about the kernel."""
    return [name for name in reasons if name in DISTURBING] if isinstance(reasons, list) else []


def throttle_reasons(mask: int) -> list[str]:
    """The names of the bits that are set in an NVML throttle mask; a bit without a name keeps its number."""
    bits = [1 << position for position in range(mask.bit_length()) if mask >> position & 1]
    return [THROTTLE_BITS.get(bit, hex(bit)) for bit in bits]


def read_conditions(device: DeviceInfo, nvml: ModuleType | Any | None = None) -> dict[str, object]:
    """What NVML tells about `device` now. What it does not tell is absent; without NVML all is."""
    nvml = nvml or _load()
    if nvml is None:
        return {}
    try:
        nvml.nvmlInit()
        handle = _handle(nvml, device)
    except nvml.NVMLError:
        return {}
    return {
        name: value
        for name, read in _readers(nvml, handle).items()
        if (value := _ask(nvml, read)) is not None
    }


def _load() -> ModuleType | None:
    try:
        import pynvml
    except ImportError:
        return None
    return pynvml


def _handle(nvml: Any, device: DeviceInfo) -> Any:
    if device.uuid:
        return nvml.nvmlDeviceGetHandleByUUID(device.uuid)
    return nvml.nvmlDeviceGetHandleByIndex(device.index)


def _readers(nvml: Any, handle: Any) -> dict[str, Callable[[], object]]:
    return {
        "sm_clock_mhz": lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),
        "temperature_c": lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
        "power_w": lambda: nvml.nvmlDeviceGetPowerUsage(handle) / 1000,
        "throttle_reasons": lambda: throttle_reasons(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)),
        "other_processes": lambda: [
            process.pid
            for process in nvml.nvmlDeviceGetComputeRunningProcesses(handle)
            if process.pid != os.getpid()
        ],
    }


def _ask(nvml: Any, read: Callable[[], object]) -> object:
    try:
        return read()
    except (nvml.NVMLError, AttributeError):  # not supported by this device, or by this NVML
        return None
