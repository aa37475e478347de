"""What stands in for a tuner's own cache, so that the key is the tuner's own and never a guess of ours.

Triton's Autotuner and its subclasses ask `key in self.cache`, read `self.cache[key]` and set it after tuning.
"""

from __future__ import annotations

from typing import Any


class TunerCache:
    """A mapping that watches the tuner's own cache, which stays underneath."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __contains__(self, key: Any) -> bool:
        return key in self.inner

    def __getitem__(self, key: Any) -> Any:
        return self.inner[key]

    def __setitem__(self, key: Any, config: Any) -> None:
        self.inner[key] = config

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)
