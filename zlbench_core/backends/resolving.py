"""Which device a user means: an index, a unique id, or an unambiguous beginning of one."""

from __future__ import annotations

from collections.abc import Sequence

from zlbench_core.backends.base import DeviceInfo
from zlbench_core.errors import DeviceError


def find_device(backend: str, devices: Sequence[DeviceInfo], asked: str | int) -> DeviceInfo:
    """The device that `asked` names. Raises DeviceError for none, several, or one that cannot be used."""
    text = str(asked).strip()
    found = _by_index(devices, int(text)) if text.isdecimal() else _by_uuid(devices, text)
    if not found:
        raise DeviceError(f"device {text} is not there: {backend} lists {_listing(devices)}")
    if len(found) > 1:
        raise DeviceError(f"device {text} is ambiguous: it begins {', '.join(str(d.uuid) for d in found)}")
    return _usable(found[0], devices, text)


def _by_index(devices: Sequence[DeviceInfo], index: int) -> list[DeviceInfo]:
    return [device for device in devices if device.index == index and device.parent is None]


def _by_uuid(devices: Sequence[DeviceInfo], text: str) -> list[DeviceInfo]:
    """Matches by unique id, in any case, with or without the vendor's prefix ("GPU-", "MIG-")."""
    asked = text.lower()
    known = [(device, device.uuid.lower()) for device in devices if device.uuid]
    exact = [device for device, uuid in known if uuid == asked]
    return exact or [
        device
        for device, uuid in known
        if asked and (uuid.startswith(asked) or uuid.partition("-")[2].startswith(asked))
    ]


def _usable(device: DeviceInfo, devices: Sequence[DeviceInfo], text: str) -> DeviceInfo:
    if device.usable:
        return device
    slices = [str(other.uuid) for other in devices if device.uuid and other.parent == device.uuid]
    if slices:
        raise DeviceError(f"device {text} cannot be used whole: it is split into {', '.join(slices)}")
    raise DeviceError(f"device {text} is not usable: {device.note or 'the vendor tool says so'}")


def _listing(devices: Sequence[DeviceInfo]) -> str:
    whole = [str(device.index) for device in devices if device.parent is None]
    slices = [str(device.uuid) for device in devices if device.parent is not None]
    return ", ".join(whole + slices) or "none"
