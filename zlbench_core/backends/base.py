"""What every backend speaks of: a device as its vendor's tool lists it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DeviceInfo:
    """One device as the vendor's tool lists it. What the tool does not tell is None."""

    index: int
    uuid: str | None = None
    name: str | None = None
    memory_mib: int | None = None
    driver: str | None = None
    parent: str | None = None  # the uuid of the device that this one is a slice of
    usable: bool = True
    note: str | None = None
    bus_id: str | None = None
    used_mib: int | None = None
