"""Replay: the methods of tuners and of cached entries that are wrapped, and what the wrappers do."""

from __future__ import annotations

from typing import Any

from zlbench_core.pins.configs import config_to_json
from zlbench_core.pins.pins import Pins
from zlbench_core.tuning.replay import (
    PassedOn,
    PinBook,
    PinnedCache,
    ReplayLog,
    Unpinned,
    Use,
    check_launch,
    passed_config,
)
from zlbench_core.tuning.tuners import Patches, entry_classes, tuner_classes


class ReplayMode:
    name = "replay"

    def __init__(self, pins: Pins) -> None:
        self.log = ReplayLog(pins)
        self.book = PinBook(self.log)
        # By id of the constants that an entry returns with every launch of one compiled kernel.
        self._entries: dict[int, tuple[Use | Unpinned, Any]] = {}
        self._running: set[int] = set()

    def patch(self, patches: Patches) -> None:
        for cls in tuner_classes():
            patches.wrap(cls, "run", self._wrap_tuner)
        for cls in entry_classes():
            patches.wrap(cls, "run", self._wrap_entry)

    def _wrap_tuner(self, original: Any) -> Any:
        def run(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            if id(tuner) in self._running:
                return original(tuner, *args, **kwargs)
            self._running.add(id(tuner))
            try:
                return self._run_tuner(original, tuner, args, kwargs)
            finally:
                self._running.discard(id(tuner))

        return run

    def _run_tuner(self, original: Any, tuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if type(tuner.cache) is not PinnedCache:
            tuner.cache = PinnedCache(tuner.cache, tuner, self.book)
        cache, fn = tuner.cache, tuner.fn
        cache.current = None
        try:
            result = original(tuner, *args, **kwargs)
            passed = tuner.fn if isinstance(tuner.fn, PassedOn) else None
        finally:
            tuner.fn = fn
        if isinstance(cache.current, Unpinned):
            cache.current.config = config_to_json(tuner.best_config)
            self.log.launched(cache.current)
        elif cache.current is not None:
            use, config = cache.current
            check_launch(self.log, tuner, use, config, passed)
            self.log.launched(use)
        return result

    def _wrap_entry(self, original: Any) -> Any:
        """An entry launches the compiled kernel itself from the second time on, and returns its constants.

        The wrapper costs the measured launch one dictionary look-up.
        """

        def run(entry: Any, *args: Any, **kwargs: Any) -> Any:
            self.log.last = None
            result = original(entry, *args, **kwargs)
            constants = result[1] if type(result) is tuple and len(result) == 2 else None
            known = self._entries.get(id(constants))
            if self.log.last is not None:
                self._learn(self.log.last, constants)
            elif known is not None:
                known[0].launches += 1
            return result

        return run

    def _learn(self, use: Use | Unpinned, constants: Any) -> None:
        """The entry has just let its tuner run: from now on these constants stand for the pin."""
        if not isinstance(constants, dict):
            return
        self._entries[id(constants)] = (use, constants)
        if isinstance(use, Unpinned):
            return
        launched = passed_config(use.wanted, constants)
        if any(use.wanted[name] != value for name, value in launched.items()):
            self.log.differs(use, launched)

    def finish(self, *, complete: bool) -> dict[str, Any]:
        return {"replay": self.log.to_json()}
