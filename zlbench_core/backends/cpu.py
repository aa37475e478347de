"""No device: kernels compile for a named GPU target and run through Triton's interpreter on the CPU."""

from __future__ import annotations

import os

from zlbench_core.backends.backend import DeviceBackend
from zlbench_core.backends.base import DeviceInfo
from zlbench_core.records import run_env

LOGICAL_DEVICES = 4  # at least so many, that work for several devices can be planned on a small machine


class CpuBackend(DeviceBackend):
    name = "cpu"
    aliases = ("host", "interpreter")
    torch_device = "cpu"
    direct_flushes_l2 = False
    compiles_without_device = True

    def enumerate_devices(self) -> list[DeviceInfo]:
        """Logical devices: places to run in, not processors."""
        count = max(LOGICAL_DEVICES, os.cpu_count() or 1)
        return [DeviceInfo(index, f"cpu-{index}", "cpu-interpreter") for index in range(count)]

    def process_activate(self, target: str | None) -> None:
        from zlbench_core.backends.cpu_driver import activate

        activate(target)

    def process_compile_only(self) -> None:
        from zlbench_core.backends.cpu_stand_in import stand_in_for_cuda

        stand_in_for_cuda()

    def process_device(self) -> dict[str, str | None]:
        """The interpreter and the active driver's target, such as cpu-interpreter/cuda:90."""
        from triton.runtime import driver

        target = driver.active.get_current_target()
        return {
            "device": f"cpu-interpreter/{target.backend}:{target.arch}",
            "device_uuid": f"cpu-{os.environ.get(run_env.DEVICE) or 0}",
            "driver": None,
        }
