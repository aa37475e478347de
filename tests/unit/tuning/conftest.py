from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

from zlbench_core.pins.pins import Pins
from zlbench_core.pins.records import Entry
from zlbench_core.tuning.record_mode import RecordMode
from zlbench_core.tuning.recorder import Recorder
from zlbench_core.tuning.replay_mode import ReplayMode
from zlbench_core.tuning.tuners import Patches


@pytest.fixture
def patches() -> Iterator[Patches]:
    patches = Patches()
    yield patches
    patches.undo()


@pytest.fixture
def record(patches: Patches) -> Callable[..., Recorder]:
    """End whatever was patched, then record; into a folder when one is given."""

    def start(folder: Any = None, **options: Any) -> Recorder:
        patches.undo()
        recorder = Recorder(folder, "cuda")
        RecordMode(recorder, **options).patch(patches)
        return recorder

    return start


@pytest.fixture
def replay(patches: Patches) -> Callable[[list[Entry]], ReplayMode]:
    """End whatever was patched, then replay these entries."""

    def start(entries: list[Entry]) -> ReplayMode:
        patches.undo()
        mode = ReplayMode(Pins(entries, None, "0" * 64))
        mode.patch(patches)
        return mode

    return start


@pytest.fixture
def left_children() -> Callable[[], set[int]]:
    """The children of this process that were not there before the test; those that ended and were not waited for too.

    Not all of them: a browser that another test started may live as long as the session.
    """
    before = _children()
    return lambda: _children() - before


def _children() -> set[int]:
    return {child.pid for child in psutil.Process().children()}
