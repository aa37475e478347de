"""A process's tuners: Triton's Autotuner, every subclass with a run of its own, and cached entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any


class Patches:
    """Methods replaced on classes, once each, and put back in reverse order."""

    def __init__(self) -> None:
        self._done: dict[tuple[type, str], Any] = {}

    def wrap(self, owner: type, name: str, make: Callable[[Any], Any]) -> None:
        """Replace `owner.name`, if the class defines it itself, by `make(original)`."""
        if name not in vars(owner) or (owner, name) in self._done:
            return
        original = vars(owner)[name]
        self._done[owner, name] = original
        setattr(owner, name, wraps(original)(make(original)))

    def undo(self) -> None:
        for (owner, name), original in reversed(self._done.items()):
            setattr(owner, name, original)
        self._done.clear()


def tuner_classes() -> Iterator[type]:
    """Autotuner and all its subclasses that exist by now."""
    from triton.runtime.autotuner import Autotuner

    yield from _with_subclasses(Autotuner)


def entry_classes() -> Iterator[type]:
    """Kernel interfaces outside Triton that are no tuners: they keep compiled kernels, past the tuner."""
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import KernelInterface

    for cls in _with_subclasses(KernelInterface):
        if not issubclass(cls, Autotuner) and cls.__module__.partition(".")[0] != "triton":
            yield cls


def _with_subclasses(cls: type) -> Iterator[type]:
    yield cls
    subclasses: list[type] = cls.__subclasses__()
    for subclass in subclasses:
        yield from _with_subclasses(subclass)
