"""Which of the shards that run at once takes an item: the first that gets to it.

How long a key takes to tune is not known beforehand: of mm's 15 items on an H200 one takes a third of the time. A
claim is a symbolic link, which is made with its owner's name in one step or not at all, in a folder that the shards of
one record share.
"""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path


class Claims:
    def __init__(self, folder: Path, shard: int) -> None:
        """What an earlier process of this shard claimed is free again: it has to be walked anew."""
        self._folder, self._owner = folder, str(shard)
        folder.mkdir(parents=True, exist_ok=True)
        for claim in list(folder.iterdir()):
            if os.readlink(claim) == self._owner:
                claim.unlink()

    def take(self, item: str) -> bool:
        """Whether `item` is this shard's from now on."""
        try:
            (self._folder / sha256(item.encode()).hexdigest()).symlink_to(self._owner)
        except FileExistsError:
            return False
        return True
