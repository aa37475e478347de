"""Runs of two autotune modes: that is one reason, told first, and what follows from it alone is not told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

MODES = {
    "off": "without pins (off)",
    "record": "as a record, which looks for winners",
    "replay": "as a replay, which runs pinned winners",
}
_FOLLOWS = ("autotune_mode:", "declared:", "replay.", "replay:", "tuning.")


def modes_first(
    complaints: Sequence[str],
    identities: Mapping[str, Mapping[str, Any]],
    is_declared: Callable[[str, Sequence[str]], bool],
) -> list[str]:
    """The complaints as they are where the runs share a mode, one is not known, or there is nothing to complain of."""
    labels: dict[str, list[str]] = {}
    for label, identity in identities.items():
        labels.setdefault(str(identity.get("autotune_mode")), []).append(label)
    if not complaints or len(labels) < 2 or not labels.keys() <= MODES.keys():
        return list(complaints)
    told = "; ".join(f"{', '.join(labels[mode])} ran {MODES[mode]}" for mode in labels)
    axis = [str(one) for identity in identities.values() for one in identity.get("declared") or ()]
    others = [
        line
        for line in complaints
        if not line.startswith(_FOLLOWS) and not is_declared(line.partition(": ")[0], axis)
    ]
    return [f"autotune_mode: {told}; compare two replays of one record", *others]
