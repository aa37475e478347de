"""Which of the shards that run at once takes an item: the first that gets to it.

How long a key takes to tune is not known beforehand: of mm's 15 items on an H200 one takes a third of the time. The
claims stand in a folder that the shards of one record share.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from zlbench_core.common.locks import claim, claimed_by


class Claims:
    def __init__(self, folder: Path, shard: int) -> None:
        """What an earlier process of this shard claimed is free again: it has to be walked anew."""
        self._folder, self._owner = folder, str(shard)
        folder.mkdir(parents=True, exist_ok=True)
        for path in list(folder.iterdir()):
            if claimed_by(path) == self._owner:
                path.unlink()

    def take(self, item: str) -> bool:
        """Whether `item` is this shard's from now on."""
        return claim(self._folder / sha256(item.encode()).hexdigest(), self._owner)
