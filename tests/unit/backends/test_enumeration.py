from __future__ import annotations

from collections.abc import Callable

import pytest

from zlbench_core.backends import cuda, get_backend
from zlbench_core.backends.ascend import parse_info
from zlbench_core.backends.cuda import parse_query
from zlbench_core.backends.musa import parse_table
from zlbench_core.backends.rocm import parse_amd_smi, parse_rocm_smi
from zlbench_core.errors import DeviceError

Answer = Callable[[str], str]
Tool = Callable[..., None]


def test_values_that_nvidia_smi_does_not_tell_are_none_and_the_gpu_stays_listed(answer: Answer) -> None:
    gpus = parse_query(answer("nvidia-smi-query.txt"))
    assert [gpu.index for gpu in gpus] == [0, 1, 2, 3]
    assert [gpu.memory_mib for gpu in gpus] == [143771, None, 143771, 143771]
    assert [gpu.driver for gpu in gpus] == ["580.159.04", "580.159.04", None, None]


def test_a_comma_in_a_gpu_name_stays_in_the_name() -> None:
    (gpu,) = parse_query("0, GPU-1, NVIDIA X, Special, 100, 1.2\n")
    assert (gpu.name, gpu.memory_mib) == ("NVIDIA X, Special", 100)


def test_a_line_that_is_no_gpu_is_no_empty_list() -> None:
    with pytest.raises(DeviceError, match="cannot enumerate cuda devices: nvidia-smi said 'No devices"):
        parse_query("No devices were found\n")


def test_mig_slices_stand_beside_a_parent_that_is_not_usable(answer: Answer) -> None:
    devices = cuda.with_slices(
        parse_query(answer("nvidia-smi-query.txt")), cuda.parse_slices(answer("nvidia-smi-L.txt"))
    )
    whole = [device for device in devices if device.parent is None]
    slices = [device for device in devices if device.parent is not None]
    assert [(d.index, d.usable) for d in whole] == [(0, False), (1, True), (2, True), (3, True)]
    assert [d.name for d in slices] == ["MIG 1g.18gb", "MIG 2g.35gb"]
    assert {d.parent for d in slices} == {whole[0].uuid}
    assert slices[0].driver == "580.159.04"


def test_mthreads_gmi_cards_keep_bus_memory_and_driver(answer: Answer) -> None:
    busy, idle = parse_table(answer("mthreads-gmi.txt"))
    assert (busy.index, busy.name, busy.bus_id) == (0, "MTT S5000", "00000000:1b:00.0")
    assert (busy.used_mib, busy.memory_mib, busy.driver) == (70211, 81920, "3.3.4-server")
    assert (idle.index, idle.used_mib) == (1, 12)


def test_rocm_smi_json_is_found_behind_a_warning_which_becomes_a_note(answer: Answer) -> None:
    first, second = parse_rocm_smi(answer("rocm-smi.txt"))
    assert (first.uuid, first.name, first.memory_mib) == (
        "GPU-5c88007d3a1b2c4d",
        "AMD Instinct MI300X",
        196592,
    )
    assert first.driver == "6.12.12"
    assert (second.uuid, second.name) == (None, "0x74a1")
    assert "low-power state" in str(first.note)


def test_old_rocm_smi_field_names_are_read_too() -> None:
    (card,) = parse_rocm_smi('{"card2": {"Card series": "MI250", "Unique ID": "0xab"}}')
    assert (card.index, card.name, card.uuid) == (2, "MI250", "GPU-00000000000000ab")


def test_amd_smi_json_is_read(answer: Answer) -> None:
    first, second = parse_amd_smi(answer("amd-smi.txt"))
    assert (first.uuid, first.memory_mib, first.driver) == ("GPU-5c88007d3a1b2c4d", 196592, "6.12.12")
    assert (second.index, second.memory_mib) == (1, None)
    (listed,) = parse_amd_smi('[{"gpu": 5, "asic": {"asic_serial": "N/A"}}]')
    assert (listed.index, listed.uuid) == (5, None)


@pytest.mark.parametrize(
    "text",
    [
        "WARNING: No JSON data to report\n",
        "ERROR:root:Driver not initialized\n",
        "WARNING: [AMD/ATI] {broken",
        "[]",
        '[{"gpu": 0}]',
    ],
)
def test_rocm_smi_without_cards_is_not_zero_devices(text: str, tool: Tool) -> None:
    tool("rocm-smi", text)
    with pytest.raises(DeviceError, match="cannot enumerate rocm devices"):
        get_backend("rocm").enumerate_devices()


def test_amd_smi_serves_where_rocm_smi_is_gone(tool: Tool, answer: Answer) -> None:
    tool("amd-smi", answer("amd-smi.txt"))
    assert [d.index for d in get_backend("rocm").enumerate_devices()] == [0, 1]


def test_npu_smi_one_chip_an_npu_with_gaps_and_a_sick_one(answer: Answer) -> None:
    chips = parse_info(answer("npu-smi-910b.txt"))
    assert [chip.index for chip in chips] == [0, 1, 3, 4]
    assert [chip.note for chip in chips] == [None, "health Warning", None, None]
    assert (chips[1].name, chips[1].bus_id) == ("910B3", "0000:C2:00.0")
    assert (chips[1].used_mib, chips[1].memory_mib, chips[1].driver) == (51200, 65536, "24.1.rc3")


def test_npu_smi_two_chips_an_npu_take_the_physical_id(answer: Answer) -> None:
    assert [chip.index for chip in parse_info(answer("npu-smi-910c.txt"))] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("backend", "missing"),
    [("cuda", "nvidia-smi"), ("musa", "mthreads-gmi"), ("rocm", "rocm-smi"), ("ascend", "npu-smi")],
)
def test_a_missing_tool_is_named(backend: str, missing: str, tool: Tool) -> None:
    with pytest.raises(DeviceError) as caught:
        get_backend(backend).enumerate_devices()
    assert str(caught.value) == f"cannot enumerate {backend} devices: {missing} is not on PATH"
    assert caught.value.check == "device"


@pytest.mark.parametrize(
    ("backend", "name"), [("cuda", "nvidia-smi"), ("musa", "mthreads-gmi"), ("ascend", "npu-smi")]
)
def test_a_tool_that_lists_nothing_is_not_zero_devices(backend: str, name: str, tool: Tool) -> None:
    tool(name, "")
    with pytest.raises(DeviceError, match=f"cannot enumerate {backend} devices"):
        get_backend(backend).enumerate_devices()


def test_a_failing_tool_is_quoted(tool: Tool) -> None:
    tool("nvidia-smi", "NVIDIA-SMI has failed because it couldn't communicate with the driver.\nmore", code=9)
    with pytest.raises(DeviceError, match=r"nvidia-smi exited 9: NVIDIA-SMI has failed .* driver\.$"):
        get_backend("cuda").enumerate_devices()


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build", "580.159.04"),
        (
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC 2023",
            "535.54.03",
        ),
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.82", "470.82"),
    ],
)
def test_the_driver_version_comes_from_proc_without_a_tool(
    line: str, version: str, tmp_path, monkeypatch: pytest.MonkeyPatch, tool: Tool
) -> None:
    proc = tmp_path / "version"
    proc.write_text(f"{line}\nGCC version: gcc 13.2\n")
    monkeypatch.setattr(cuda, "PROC_VERSION", proc)
    assert get_backend("cuda").driver_version() == version


def test_the_driver_version_falls_back_to_nvidia_smi_and_then_to_none(
    tmp_path, monkeypatch: pytest.MonkeyPatch, tool: Tool, answer: Answer
) -> None:
    monkeypatch.setattr(cuda, "PROC_VERSION", tmp_path / "absent")
    assert get_backend("cuda").driver_version() is None
    tool("nvidia-smi", answer("nvidia-smi-query.txt"))
    assert get_backend("cuda").driver_version() == "580.159.04"
