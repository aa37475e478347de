"""How a benchmark tells that a row is lost before its timer was called, so that the partner does not wait for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Listener = Callable[[Callable[[], Any], BaseException], None]
_listeners: list[Listener] = []


def listen(listener: Listener) -> None:
    _listeners[:] = [listener]


def stop_listening() -> None:
    _listeners.clear()


def row_lost(call: Callable[[], Any], error: BaseException) -> None:
    """`call` is what would have been timed. Nothing happens where no partner is there."""
    for listener in _listeners:
        listener(call, error)
