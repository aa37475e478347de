"""`devices`, or its alias: which devices were asked for."""

import pytest

from zlbench_core.campaign.values import resolve_device_arg


def test_devices_is_preferred_and_its_alias_stands_in():
    assert resolve_device_arg("0,1", None) == "0,1"
    assert resolve_device_arg(None, "2") == "2"
    assert resolve_device_arg("", 0) == 0
    assert resolve_device_arg([0], "") == [0]
    assert resolve_device_arg(None, None) is None


@pytest.mark.parametrize(("devices", "device"), [("0", "1"), ("0", "0"), ([0], 0)])
def test_devices_and_its_alias_together_are_an_error(devices, device):
    with pytest.raises(ValueError, match="give devices alone"):
        resolve_device_arg(devices, device)
