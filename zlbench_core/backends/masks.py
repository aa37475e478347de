"""What a visibility mask leaves: the arithmetic of CUDA_VISIBLE_DEVICES and its kin."""

from __future__ import annotations

from collections.abc import Sequence

from zlbench_core.backends.base import DeviceInfo


def masked(devices: Sequence[DeviceInfo], mask: str | None) -> list[DeviceInfo]:
    """The devices that `mask` leaves of `devices`, in the mask's order; all of them where it is not set.

    A mask takes positions and (beginnings of) unique ids, and ends at its first entry that names no device.
    """
    if mask is None:
        return list(devices)
    kept: list[DeviceInfo] = []
    for entry in (part.strip() for part in mask.split(",")):
        named = _named(devices, entry)
        if len(named) != 1:
            break
        kept += named
    return kept


def _named(devices: Sequence[DeviceInfo], entry: str) -> list[DeviceInfo]:
    if entry.isdecimal():
        whole = [device for device in devices if device.parent is None]
        return whole[int(entry) : int(entry) + 1]
    return [device for device in devices if entry and (device.uuid or "").startswith(entry)]
