from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from zlbench_core.backends import get_backend
from zlbench_core.backends.base import DeviceInfo
from zlbench_core.backends.nvml import read_conditions, throttle_reasons


class NVMLError(Exception):
    pass


def fake_nvml(**replaced: object) -> SimpleNamespace:
    pids = (os.getpid(), 4711)
    calls = {
        "NVMLError": NVMLError,
        "NVML_CLOCK_SM": 1,
        "NVML_TEMPERATURE_GPU": 0,
        "nvmlInit": lambda: None,
        "nvmlDeviceGetHandleByUUID": lambda uuid: uuid,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetClockInfo": lambda handle, kind: 1980,
        "nvmlDeviceGetTemperature": lambda handle, kind: 41,
        "nvmlDeviceGetPowerUsage": lambda handle: 312_500,
        "nvmlDeviceGetCurrentClocksThrottleReasons": lambda handle: 0x44,
        "nvmlDeviceGetComputeRunningProcesses": lambda handle: [SimpleNamespace(pid=pid) for pid in pids],
    }
    return SimpleNamespace(**{**calls, **replaced})


def failing(*_: object) -> None:
    raise NVMLError("Not Supported")


def test_conditions_are_told_in_plain_units() -> None:
    assert read_conditions(DeviceInfo(0, "GPU-1"), fake_nvml()) == {
        "sm_clock_mhz": 1980,
        "temperature_c": 41,
        "power_w": 312.5,
        "throttle_reasons": ["sw_power_cap", "hw_thermal_slowdown"],
        "other_processes": [4711],
    }


def test_what_the_device_does_not_support_is_absent() -> None:
    told = read_conditions(DeviceInfo(0), fake_nvml(nvmlDeviceGetTemperature=failing))
    assert "temperature_c" not in told
    assert told["sm_clock_mhz"] == 1980


@pytest.mark.parametrize("call", ["nvmlInit", "nvmlDeviceGetHandleByUUID"])
def test_no_driver_or_no_device_tells_nothing(call: str) -> None:
    assert read_conditions(DeviceInfo(0, "GPU-1"), fake_nvml(**{call: failing})) == {}


def test_an_unknown_throttle_bit_keeps_its_number() -> None:
    assert throttle_reasons(0x1001) == ["gpu_idle", "0x1000"]
    assert throttle_reasons(0) == []


def test_backends_without_such_a_library_tell_nothing() -> None:
    assert get_backend("musa").conditions(DeviceInfo(0)) == {}


def test_a_throttled_device_is_a_disturbance_and_a_power_cap_is_not() -> None:
    cuda = get_backend("cuda")
    assert cuda.disturbance({"throttle_reasons": ["sw_power_cap", "hw_slowdown"]}) == "hw_slowdown"
    assert cuda.disturbance({"throttle_reasons": ["sw_power_cap", "gpu_idle"]}) is None
    assert cuda.disturbance({}) is None
    assert get_backend("musa").disturbance({"throttle_reasons": ["hw_slowdown"]}) is None
