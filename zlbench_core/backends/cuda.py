"""NVIDIA devices: nvidia-smi, MIG slices, NVML conditions."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from zlbench_core.backends.backend import DeviceBackend
from zlbench_core.backends.base import DeviceInfo
from zlbench_core.backends.errors_text import ErrorWords
from zlbench_core.backends.process import give_back_cuda_pool, torch_cuda_device
from zlbench_core.backends.tools import cannot_enumerate, first_line, known, run_tool, whole_number
from zlbench_core.errors import DeviceError

QUERY = (
    "nvidia-smi",
    "--query-gpu=index,uuid,name,memory.total,driver_version",
    "--format=csv,noheader,nounits",
)
LISTING = ("nvidia-smi", "-L")
PROC_VERSION = Path("/proc/driver/nvidia/version")

PARENT_LINE = re.compile(r"^GPU\s+(\d+):.*\(UUID:\s*(\S+)\)")
SLICE_LINE = re.compile(r"^\s+(MIG\s+\S+)\s+Device\s+\d+:\s*\(UUID:\s*(\S+)\)")
KERNEL_MODULE = re.compile(r"Kernel Module\b.*?\s(\d+\.\d+(?:\.\d+)*)\s")


def parse_query(text: str) -> list[DeviceInfo]:
    """The GPUs in the output of QUERY, memory in MiB. A value that nvidia-smi does not tell is None."""
    return [_parse_row(row) for row in csv.reader(text.splitlines(), skipinitialspace=True) if row]


def _parse_row(row: Sequence[str]) -> DeviceInfo:
    index = whole_number(row[0])
    if index is None or len(row) < 5:
        raise cannot_enumerate("cuda", f"nvidia-smi said {', '.join(row)!r}")
    uuid, *name, memory, driver = row[1:]
    return DeviceInfo(index, known(uuid), known(", ".join(name)), whole_number(memory), known(driver))


def parse_slices(text: str) -> list[DeviceInfo]:
    """The MIG slices in the output of `nvidia-smi -L`, each with its parent's index and unique id."""
    slices: list[DeviceInfo] = []
    index, parent = -1, None
    for line in text.splitlines():
        if match := PARENT_LINE.match(line):
            index, parent = int(match[1]), match[2]
        elif match := SLICE_LINE.match(line):
            name = " ".join(match[1].split())
            slices.append(DeviceInfo(index, match[2], name, parent=parent))
    return slices


def with_slices(gpus: Sequence[DeviceInfo], slices: Sequence[DeviceInfo]) -> list[DeviceInfo]:
    """Each GPU followed by its slices; a GPU that is split cannot be used whole."""
    listed: list[DeviceInfo] = []
    for gpu in gpus:
        own = [replace(part, driver=gpu.driver) for part in slices if part.index == gpu.index]
        listed += [replace(gpu, usable=False, note=f"split into {len(own)} MIG slices") if own else gpu, *own]
    return listed


class CudaBackend(DeviceBackend):
    name = "cuda"
    aliases = ("", "nvidia", "nv")
    visibility_keys = ("CUDA_VISIBLE_DEVICES",)
    torch_device = "cuda"
    gems_vendor = "nvidia"
    graph_class = "CUDAGraph"
    supports_cuda_graph = True
    supports_mm_cluster_fix = True
    upstream_graph_timer = True
    words = ErrorWords(
        environment=(
            "no cuda-capable device is detected",
            "no cuda gpus are available",
            "found no nvidia driver",
            "cuda-capable device(s) is/are busy or unavailable",
            "cuda driver version is insufficient",
        )
    )

    def enumerate_devices(self) -> list[DeviceInfo]:
        gpus = parse_query(run_tool(self.name, QUERY))
        if not gpus:
            raise cannot_enumerate(self.name, "nvidia-smi lists none")
        return with_slices(gpus, parse_slices(run_tool(self.name, LISTING)))

    def visibility_value(self, device: DeviceInfo) -> str:
        # CUDA's own order of indices (fastest first) need not be nvidia-smi's; a unique id means the same.
        return device.uuid or str(device.index)

    def driver_version(self) -> str | None:
        match = KERNEL_MODULE.search(f"{first_line(PROC_VERSION) or ''} ")
        if match:
            return match[1]
        try:
            return parse_query(run_tool(self.name, QUERY))[0].driver
        except (DeviceError, IndexError):
            return None

    def conditions(self, device: DeviceInfo) -> dict[str, object]:
        """Clock (MHz), temperature (C), throttle reasons and foreign processes; {} without nvidia-ml-py."""
        from zlbench_core.backends.nvml import read_conditions

        return read_conditions(device)

    def disturbance(self, conditions: Mapping[str, object]) -> str | None:
        from zlbench_core.backends.nvml import disturbing

        return ", ".join(disturbing(conditions.get("throttle_reasons"))) or None

    def process_give_back_pool(self, pool: Any) -> None:
        give_back_cuda_pool(pool)

    def process_device(self) -> dict[str, str | None]:
        return torch_cuda_device(self.driver_version())
