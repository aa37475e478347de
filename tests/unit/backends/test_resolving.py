from __future__ import annotations

import pytest

from zlbench_core.backends import apply_visibility, get_backend
from zlbench_core.backends.base import DeviceInfo
from zlbench_core.backends.resolving import find_device
from zlbench_core.backends.rocm import hip_unique_id
from zlbench_core.errors import DeviceError

PARENT = "GPU-0000aaaa-1111"
DEVICES = [
    DeviceInfo(0, PARENT, usable=False),
    DeviceInfo(0, "MIG-77770001", parent=PARENT),
    DeviceInfo(0, "MIG-77770002", parent=PARENT),
    DeviceInfo(1, "GPU-8932f9aa-2222"),
    DeviceInfo(2, "GPU-8932e0bb-3333"),
    DeviceInfo(3),
]


@pytest.mark.parametrize(
    ("asked", "index"),
    [
        (1, 1),
        ("2", 2),
        (" 3 ", 3),
        ("GPU-8932f9aa-2222", 1),
        ("gpu-8932F", 1),
        ("8932e", 2),
        ("MIG-77770002", 0),
    ],
)
def test_a_device_is_meant_by_index_uuid_or_unique_short_uuid(asked: str | int, index: int) -> None:
    assert find_device("cuda", DEVICES, asked).index == index


@pytest.mark.parametrize("short", ["GPU-893", "gpu-8932"])
def test_an_ambiguous_short_uuid_is_refused_with_its_candidates(short: str) -> None:
    with pytest.raises(DeviceError, match=f"device {short} is ambiguous: .*8932f9aa.*8932e0bb"):
        find_device("cuda", DEVICES, short)


def test_a_device_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(DeviceError) as caught:
        find_device("cuda", [DeviceInfo(0), DeviceInfo(1)], "9")
    assert str(caught.value) == "device 9 is not there: cuda lists 0, 1"


@pytest.mark.parametrize("asked", ["GPU-dead", "", "-1", "0,1"])
def test_what_names_no_device_is_refused(asked: str) -> None:
    with pytest.raises(DeviceError, match="is not there: cuda lists 0, 1, 2, 3, MIG-77770001, MIG-77770002"):
        find_device("cuda", DEVICES, asked)


@pytest.mark.parametrize("asked", ["0", PARENT])
def test_a_split_device_is_refused_with_its_slices(asked: str) -> None:
    with pytest.raises(
        DeviceError, match="cannot be used whole: it is split into MIG-77770001, MIG-77770002"
    ):
        find_device("cuda", DEVICES, asked)


def test_an_unusable_device_without_slices_tells_its_note() -> None:
    with pytest.raises(DeviceError, match="device 0 is not usable: lost"):
        find_device("cuda", [DeviceInfo(0, usable=False, note="lost")], "0")


def test_a_device_is_masked_by_what_means_the_same_to_every_layer_below() -> None:
    cuda, rocm = get_backend("cuda"), get_backend("rocm")
    assert cuda.visibility_value(DEVICES[3]) == rocm.visibility_value(DEVICES[3]) == "GPU-8932f9aa-2222"
    assert cuda.visibility_value(DEVICES[5]) == "3"
    assert get_backend("musa").visibility_value(DEVICES[3]) == "1"
    by_id = apply_visibility(rocm, {}, rocm.visibility_value(DEVICES[3]))
    assert set(by_id.values()) == {"GPU-8932f9aa-2222"}, "one index in both masks would leave no device"


def test_torchs_uuid_on_rocm_becomes_the_unique_id() -> None:
    as_torch_prints_it = "GPU-35633838-3030-3764-3361-316232633464"
    assert hip_unique_id(as_torch_prints_it) == "GPU-5c88007d3a1b2c4d"
    assert hip_unique_id(None) is None
    assert hip_unique_id("GPU-zz") is None
