"""AMD devices: rocm-smi or amd-smi."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from typing import Any

from zlbench_core.backends.backend import DeviceBackend
from zlbench_core.backends.base import DeviceInfo
from zlbench_core.backends.errors_text import ErrorWords
from zlbench_core.backends.process import give_back_cuda_pool, torch_cuda_device
from zlbench_core.backends.tools import cannot_enumerate, first_line, known, run_tool, whole_number

ROCM_SMI = (
    "rocm-smi",
    "--showproductname",
    "--showuniqueid",
    "--showmeminfo",
    "vram",
    "--showdriverversion",
    "--json",
)
AMD_SMI = ("amd-smi", "static", "--asic", "--vram", "--driver", "--json")
MODULE_VERSION = "/sys/module/amdgpu/version"
CARD = re.compile(r"card(\d+)")


def split_json(text: str) -> tuple[Any, str]:
    """The first JSON object or list of objects in a tool's output, and the text before it.

    The tools print warnings into the same stream (ROCm/legacy-rocm-build #5849). No JSON: DeviceError.
    """
    decoder = json.JSONDecoder()
    for start in (match.start() for match in re.finditer(r"[\[{]", text)):
        try:
            value, _ = decoder.raw_decode(text, start)
        except ValueError:
            continue
        if value and (isinstance(value, dict) or all(isinstance(item, dict) for item in value)):
            return value, " ".join(text[:start].split())
    raise cannot_enumerate("rocm", f"no JSON in the answer {text.strip()[:120]!r}")


def unique_id(value: object) -> str | None:
    """A device's unique id as the two visibility variables take it: "GPU-" and 16 hex digits."""
    text = known(value)
    return f"GPU-{text.lower().removeprefix('0x').zfill(16)}" if text else None


def parse_rocm_smi(text: str) -> list[DeviceInfo]:
    """The cards in `rocm-smi --json`'s answer, memory in MiB; a warning before the JSON is kept as a note."""
    cards, warning = split_json(text)
    if not isinstance(cards, dict):
        raise cannot_enumerate("rocm", "rocm-smi's JSON is not an object of cards")
    driver = known(_field(cards.get("system", {}), "driver version"))
    found = [(CARD.fullmatch(name), card) for name, card in cards.items()]
    return [_rocm_smi_card(int(match[1]), card, driver, warning) for match, card in found if match]


def _rocm_smi_card(index: int, card: Mapping[str, Any], driver: str | None, warning: str) -> DeviceInfo:
    total, used = (_mib(_field(card, f"vram total {kind}(b)")) for kind in ("memory ", "used memory "))
    name = known(_field(card, "card series")) or known(_field(card, "card model"))
    uuid = unique_id(_field(card, "unique id"))
    return DeviceInfo(index, uuid, name, total, driver, note=warning or None, used_mib=used)


def _field(card: Mapping[str, Any], name: str) -> object:
    """A field by name in any case: "Card series" became "Card Series" between releases."""
    return next((value for key, value in card.items() if key.lower() == name), "")


def _mib(size_bytes: object) -> int | None:
    size = whole_number(size_bytes)
    return size // 2**20 if size is not None else None


def parse_amd_smi(text: str) -> list[DeviceInfo]:
    """The GPUs in `amd-smi static --json`'s answer: a list, or since 2025 an object with "gpu_data"."""
    value, warning = split_json(text)
    gpus = value.get("gpu_data", []) if isinstance(value, dict) else value
    return [_amd_smi_gpu(gpu, warning) for gpu in gpus]


def _amd_smi_gpu(gpu: Mapping[str, Any], warning: str) -> DeviceInfo:
    asic, driver, vram = (gpu.get(part) or {} for part in ("asic", "driver", "vram"))
    size = vram.get("size", "")
    return DeviceInfo(
        index=int(gpu["gpu"]),
        uuid=unique_id(asic.get("asic_serial", "")),
        name=known(asic.get("market_name", "")),
        memory_mib=whole_number(size.get("value", "") if isinstance(size, dict) else size),
        driver=known(driver.get("version", "")),
        note=warning or None,
    )


class RocmBackend(DeviceBackend):
    name = "rocm"
    aliases = ("amd", "hip")
    visibility_keys = ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
    torch_device = "cuda"  # PyTorch for ROCm answers to the name "cuda"
    gems_vendor = "amd"
    graph_class = "CUDAGraph"
    upstream_graph_timer = True  # torch.cuda on ROCm captures HIP graphs; used only where it is asked for
    words = ErrorWords(environment=("no hip gpus are available", "no rocm-capable device is detected"))

    def enumerate_devices(self) -> list[DeviceInfo]:
        if shutil.which("rocm-smi") is None and shutil.which("amd-smi") is not None:
            devices = parse_amd_smi(run_tool(self.name, AMD_SMI))
        else:
            devices = parse_rocm_smi(run_tool(self.name, ROCM_SMI))
        if not devices:
            raise cannot_enumerate(self.name, "the answer's JSON has no card in it")
        return devices

    def visibility_value(self, device: DeviceInfo) -> str:
        """The unique id. ROCR filters first and numbers what is left from 0, HIP filters that: one index in both masks
        would leave no device (ROCm/ROCR-Runtime #155).
        """
        return device.uuid or str(device.index)

    def driver_version(self) -> str | None:
        return first_line(MODULE_VERSION)

    def process_give_back_pool(self, pool: Any) -> None:
        give_back_cuda_pool(pool)

    def process_device(self) -> dict[str, str | None]:
        found = torch_cuda_device(self.driver_version())
        return {**found, "device_uuid": hip_unique_id(found["device_uuid"])}


def hip_unique_id(uuid: str | None) -> str | None:
    """The unique id behind torch's uuid on ROCm, whose 16 bytes are the id's 16 hex digits as ASCII."""
    try:
        digits = bytes.fromhex((uuid or "").partition("-")[2].replace("-", "")).decode("ascii")
        int(digits, 16)
    except ValueError:
        return None
    return f"GPU-{digits.lower()}"
