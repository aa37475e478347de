"""The files that a run's timed calls leave: samples.jsonl, and conditions.jsonl beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

SAMPLES = "samples.jsonl"
CONDITIONS = "conditions.jsonl"


class Journal:
    """Lines of JSON, each on disk before the next row is timed. Without a folder nothing is written."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._streams: dict[str, IO[str]] = {}

    def write(self, name: str, record: Mapping[str, Any]) -> None:
        if self._folder is not None:
            self._stream(self._folder, name).write(json.dumps(record, allow_nan=False) + "\n")

    def _stream(self, folder: Path, name: str) -> IO[str]:
        if name not in self._streams:
            self._streams[name] = open(folder / name, "w", encoding="utf-8", buffering=1)  # noqa: SIM115
        return self._streams[name]

    def close(self) -> None:
        for stream in self._streams.values():
            stream.close()
        self._streams.clear()
