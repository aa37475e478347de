"""What a refused capture leaves behind in the process, and how it is put right.

Seen with torch 2.11 on an H200, where torch.cuda.graph's exit raises before it has tidied up:
- The default generator still believes that it captures: every later draw raises "Offset increment outside
  graph capture encountered unexpectedly". set_state does not help; a clone of the state from before does.
- The allocator still serves the graph's pool: a row of one 200 MiB tensor lost 400 MiB per refusal, and each
  later allocation took 0.3 us longer per refusal, which the direct timer of a short kernel sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any


class RngGuard:
    """The state of the current device's default generator, to go back to."""

    def __init__(self, interface: ModuleType | Any) -> None:
        self._generator = _default_generator(interface)
        self._state = self._clone = None
        if self._generator is not None:
            self._state = self._generator.get_state()
            clone = getattr(self._generator, "clone_state", None)
            self._clone = clone() if clone else None

    def restore(self) -> bool:
        """Whether the generator stands where it stood, outside any capture. True where there is none."""
        if self._generator is None:
            return True
        try:
            if self._clone is not None:
                # A clone of the clone: the generator goes on with it, and restoring again stays possible.
                self._generator.graphsafe_set_state(self._clone.clone_state())
            else:
                self._generator.set_state(self._state)
        except (RuntimeError, AttributeError):  # a sticky device error, or a generator without graph support
            return False
        return True


def _default_generator(interface: ModuleType | Any) -> Any | None:
    generators = getattr(interface, "default_generators", None)
    return generators[interface.current_device()] if generators else None


@contextmanager
def pools_given_back(interface: Any, give_back: Callable[[Any], None]) -> Iterator[None]:
    """Let every graph that is captured inside use a pool that is known, and end those of failed captures.

    `give_back(pool)` ends a pool's allocation and drops it. An interface without graph pools is left alone.
    """
    original, new_pool = getattr(interface, "graph", None), getattr(interface, "graph_pool_handle", None)
    if original is None or new_pool is None:
        yield
        return
    unfinished: list[Any] = []

    def graph(graph: Any, pool: Any = None, **options: Any) -> _TrackedGraph:
        pool = pool or new_pool()
        return _TrackedGraph(original(graph, pool=pool, **options), pool, unfinished)

    interface.graph = graph
    try:
        yield
    finally:
        interface.graph = original
        for pool in unfinished:
            # Tidying up may fail too, on a broken device or a torch whose private names take something else;
            # the error under way must not be hidden.
            with suppress(Exception):
                give_back(pool)


class _TrackedGraph:
    """A graph context that stays on the list of the unfinished when its exit fails."""

    def __init__(self, context: Any, pool: Any, unfinished: list[Any]) -> None:
        self._context, self._pool, self._unfinished = context, pool, unfinished

    def __enter__(self) -> Any:
        self._unfinished.append(self._pool)
        return self._context.__enter__()

    def __exit__(self, *exception: Any) -> Any:
        result = self._context.__exit__(*exception)
        self._unfinished.remove(self._pool)
        return result
