"""The fields of an identity by what a comparison asks of them, as the class Identity says."""

from __future__ import annotations

from functools import cache

from zlbench_core.records.described import CALIBER, EQUAL, FREE, Described, described_fields
from zlbench_core.records.identity_fields import Identity

FIELDS = dict(described_fields(Identity))
CALIBER_FIELDS = tuple(name for name, one in FIELDS.items() if one.rule == CALIBER)
# Beyond the caliber: what every run of zlbench records, whatever its device.
REQUIRED = tuple(name for name, one in FIELDS.items() if one.needed and one.rule != CALIBER)
# What may differ between two runs that are compared, each with its reason; a name stands for all beneath it.
MAY_DIFFER = {name: one.why for name, one in FIELDS.items() if one.rule == FREE}

_UNKNOWN = Described(EQUAL)  # what nobody described may not differ


@cache
def field_of(name: str) -> Described:
    """What the class says of a field, or of what stands above it; names are joined by dots."""
    while name and name not in FIELDS:
        name = name.rpartition(".")[0]
    return FIELDS.get(name, _UNKNOWN)


def is_compared(name: str) -> bool:
    """Whether plain comparison judges a field; others may differ, or have rules of their own."""
    return field_of(name).rule == EQUAL
