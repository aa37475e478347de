"""Moore Threads devices: mthreads-gmi, torch_musa."""

from __future__ import annotations

import re

from zlbench_core.backends.backend import DeviceBackend
from zlbench_core.backends.base import DeviceInfo
from zlbench_core.backends.errors_text import ErrorWords
from zlbench_core.backends.process import torch_named_device
from zlbench_core.backends.tools import cannot_enumerate, first_line, run_tool

DRIVER_LINE = re.compile(r"Driver Version:\s*(\S+)")
# The first of a card's three lines: "0    MTT S5000   |00000000:2a:00.0    |0%    66641MiB(81920MiB)".
CARD_LINE = re.compile(
    r"^\|?\s*(?P<index>\d+)\s+(?P<name>\S.*?)\s*\|\s*(?P<bus>[0-9A-Fa-f]+(?::[0-9A-Fa-f]+)+\.\d+)\s*\|"
    r"(?:.*?(?P<used>\d+)MiB\s*\(\s*(?P<total>\d+)MiB\s*\))?"
)
MODULE_VERSION = "/sys/module/mtgpu/version"


def parse_table(text: str) -> list[DeviceInfo]:
    """The cards in mthreads-gmi's table, memory in MiB."""
    driver = DRIVER_LINE.search(text)
    cards = (CARD_LINE.match(line) for line in text.splitlines())
    return [_card(card, driver[1] if driver else None) for card in cards if card]


def _card(card: re.Match[str], driver: str | None) -> DeviceInfo:
    used, total = card["used"], card["total"]
    return DeviceInfo(
        index=int(card["index"]),
        name=card["name"],
        memory_mib=int(total) if total else None,
        driver=driver,
        bus_id=card["bus"],
        used_mib=int(used) if used else None,
    )


class MusaBackend(DeviceBackend):
    name = "musa"
    aliases = ("mthreads", "mt")
    visibility_keys = ("MUSA_VISIBLE_DEVICES",)
    torch_device = "musa"
    gems_vendor = "mthreads"
    graph_class = "MUSAGraph"
    supports_cuda_graph = True
    compat_plugins = ("musa_benchmark_compat",)
    # On an S5000 unique2's capture ruins the context, and the process measures nothing more.
    capture_deny_ops = frozenset({"unique2"})
    words = ErrorWords(
        poisoned=("musa error: unknown error",),
        environment=(
            "no cuda-capable device is detected",
            "no musa-capable device",
            "no musa gpus are available",
        ),
    )

    def enumerate_devices(self) -> list[DeviceInfo]:
        cards = parse_table(run_tool(self.name, ("mthreads-gmi",)))
        if not cards:
            raise cannot_enumerate(self.name, "mthreads-gmi's answer has no card in it")
        return cards

    def driver_version(self) -> str | None:
        return first_line(MODULE_VERSION)

    def process_device(self) -> dict[str, str | None]:
        return torch_named_device("musa", self.driver_version())
