"""Ascend NPUs, as npu-smi lists them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from zlbench_core.backends.backend import DeviceBackend
from zlbench_core.backends.base import DeviceInfo
from zlbench_core.backends.errors_text import STICKY, ErrorWords
from zlbench_core.backends.process import torch_named_device
from zlbench_core.backends.tools import cannot_enumerate, first_line, known, run_tool

TOOL_VERSION = re.compile(r"npu-smi\s+\S+\s+Version:\s*(\S+)")
USED_OF_TOTAL = re.compile(r"(\d+)\s*/\s*(\d+)")
DRIVER_INFO = "/usr/local/Ascend/driver/version.info"


def parse_info(text: str) -> list[DeviceInfo]:
    """The chips in `npu-smi info`'s table: two lines each, memory (HBM) in MB as the tool gives it.

    The index is the chip's physical id where the table has that column (NPUs of two chips), else the NPU's.
    """
    version = TOOL_VERSION.search(text)
    table = re.split(r"Process id", text, maxsplit=1)[0]
    rows = [_cells(line) for line in table.splitlines() if re.match(r"\|\s*\d", line)]
    return [_chip(top, bottom, version) for top, bottom in zip(rows[::2], rows[1::2], strict=False)]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _chip(top: Sequence[str], bottom: Sequence[str], version: re.Match[str] | None) -> DeviceInfo:
    npu, _, name = top[0].partition(" ")
    chip = bottom[0].split()
    memory = USED_OF_TOTAL.findall(bottom[-1])
    used, total = map(int, memory[-1]) if memory else (None, None)
    return DeviceInfo(
        index=int(chip[1] if len(chip) > 1 else npu),
        name=known(name),
        memory_mib=total,
        driver=version[1] if version else None,
        note=None if top[1] == "OK" else f"health {top[1]}",
        bus_id=known(bottom[1]),
        used_mib=used,
    )


class AscendBackend(DeviceBackend):
    name = "ascend"
    aliases = ("npu", "huawei")
    visibility_keys = ("ASCEND_RT_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES")
    torch_device = "npu"
    gems_vendor = "ascend"
    own_timer = ("triton.backends.ascend.testing", "do_bench_npu")
    words = ErrorWords(sticky=(*STICKY, "aicore exception", "vector core exception", "aicore timeout"))

    def enumerate_devices(self) -> list[DeviceInfo]:
        chips = parse_info(run_tool(self.name, ("npu-smi", "info")))
        if not chips:
            raise cannot_enumerate(self.name, "npu-smi's answer has no chip in it")
        return chips

    def driver_version(self) -> str | None:
        line = first_line(DRIVER_INFO)
        return line.partition("=")[2].strip() or None if line else None

    def process_device(self) -> dict[str, str | None]:
        return torch_named_device("npu", self.driver_version())
