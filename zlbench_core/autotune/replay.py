"""Replay mode: answer a tuner's cache from the pins, and keep account of what every launch really used."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from zlbench_core.autotune import keys
from zlbench_core.autotune.configs import ConfigJson, build_config, config_to_json, describe, find_equal
from zlbench_core.autotune.pins import Pins
from zlbench_core.autotune.records import NO_VALID_CONFIG, Entry
from zlbench_core.autotune.tuner_cache import TunerCache
from zlbench_core.errors import PinsError

MARKER = "AUTOTUNE_REPLAY_FALLBACK"
KEY_MISSING = "key_missing"
AMBIGUOUS = "ambiguous_kernel"
NO_CONFIG = "no_valid_config"
OTHER_CONFIG = "other_config"


@dataclass
class Use:
    """One pin in this process and how often it was launched."""

    entry: Entry
    wanted: ConfigJson
    foreign: bool = False  # some tuner has no config of its own that is equal
    passed: ConfigJson | None = None  # what the first launch handed to the kernel
    launches: int = 0

    def to_json(self) -> dict[str, Any]:
        return {
            "kernel": self.entry.kernel,
            "key": self.entry.key,
            "config": self.passed,
            "launches": self.launches,
        }


@dataclass
class ReplayLog:
    """The account of one process; `to_json` is the identity's `replay`."""

    pins: Pins
    uses: dict[int, Use] = field(default_factory=dict)  # by the entry's place in the pins
    fallbacks: Counter[str] = field(default_factory=Counter)
    source_changed: set[str] = field(default_factory=set)
    last: Use | None = None  # the use of the launch that is under way or was last

    def fall_back(self, reason: str, tuner: Any, key: list[Any]) -> None:
        self.fallbacks[reason] += 1
        print(f"{MARKER} reason={reason} kernel={keys.kernel_name(tuner)} key={key!r}", flush=True)

    def differs(self, use: Use, launched: ConfigJson) -> None:
        """A launch that did not use its pin's config: counted as a fallback, and both are named."""
        entry = use.entry
        self.fallbacks[OTHER_CONFIG] += 1
        print(
            f"{MARKER} reason={OTHER_CONFIG} kernel={entry.kernel} key={entry.key!r}"
            f" pinned=({describe(use.wanted)}) launched=({describe(launched)})",
            flush=True,
        )

    def launched(self, use: Use) -> None:
        use.launches += 1
        self.last = use

    def to_json(self) -> dict[str, Any]:
        uses = [self.uses[place] for place in sorted(self.uses)]
        return {
            "pins_digest": self.pins.digest,
            "keys_pinned": len(self.pins.entries),
            "hits": len(uses),
            "launches": sum(use.launches for use in uses),
            "foreign": sum(use.foreign for use in uses),
            "fallbacks": dict(self.fallbacks),
            "used": [use.to_json() for use in uses],
            "source_changed": sorted(self.source_changed),
            "unused": len(self.pins.entries) - len(uses),
        }


class PinBook:
    """The pins, found by kernel and key; two kernels of one name are told by their source."""

    def __init__(self, log: ReplayLog) -> None:
        self.log = log
        self._places: dict[tuple[str, str], list[int]] = {}
        for place, entry in enumerate(log.pins.entries):
            self._places.setdefault((entry.kernel_id, entry.key_id), []).append(place)

    def use_for(self, tuner: Any, key: Any) -> Use | None:
        """The pin of a tuner's key, or None after saying why there is none.

        Raises PinsError when the record found no valid config for the key: nothing may be launched then.
        """
        canonical = keys.canonical_key(key)
        places = self._places.get((keys.kernel_id(tuner), keys.key_id(canonical)), [])
        place = self._choose(tuner, places) if places else None
        if place is None:
            self.log.fall_back(AMBIGUOUS if places else KEY_MISSING, tuner, canonical)
            return None
        return self._use(tuner, place)

    def _choose(self, tuner: Any, places: list[int]) -> int | None:
        source = keys.source_digest(tuner)
        same = [place for place in places if self.log.pins.entries[place].source_digest == source]
        if same:
            return same[0]
        self.log.source_changed.add(keys.kernel_name(tuner))
        return places[0] if len(places) == 1 else None

    def _use(self, tuner: Any, place: int) -> Use:
        entry = self.log.pins.entries[place]
        if entry.winner is None:
            self.log.fall_back(NO_CONFIG, tuner, entry.key)
            raise PinsError(
                f"{entry.kernel} key {entry.key!r} is pinned as {NO_VALID_CONFIG!r}; not launched"
            )
        return self.log.uses.setdefault(place, Use(entry, entry.winner))


def config_for(tuner: Any, use: Use) -> Any:
    """The tuner's own config that is equal to the pin, else a new one, which the use notes as foreign."""
    own = find_equal(tuner.configs, use.wanted)
    if own is not None:
        return own
    config = build_config(tuner.configs, use.wanted, needs_hook=use.entry.pre_hook)
    use.foreign = True
    return config


class PinnedCache(TunerCache):
    """A tuner's cache in which every pinned key is there already. Other keys go on to the tuner's own."""

    def __init__(self, inner: Any, tuner: Any, book: PinBook) -> None:
        super().__init__(inner)
        self.tuner = tuner
        self.book = book
        self.current: tuple[Use, Any] | None = None  # of the run under way: the pin and this tuner's config
        self._pinned: dict[Any, tuple[Use, Any] | None] = {}

    def __contains__(self, key: Any) -> bool:
        if key not in self._pinned:
            self._pinned[key] = self._find(key)
        self.current = self._pinned[key]
        return self.current is not None or key in self.inner

    def _find(self, key: Any) -> tuple[Use, Any] | None:
        use = self.book.use_for(self.tuner, key)
        return None if use is None else (use, config_for(self.tuner, use))

    def __getitem__(self, key: Any) -> Any:
        pinned = self._pinned.get(key)
        if pinned is None:
            return self.inner[key]
        self._watch(pinned[0])
        return pinned[1]

    def _watch(self, use: Use) -> None:
        if use.passed is None:
            self.tuner.fn = PassedOn(self.tuner.fn)


class PassedOn:
    """Stands before a tuner's function for one launch and keeps the keyword arguments that reach it."""

    def __init__(self, fn: Any) -> None:
        self.fn = fn
        self.kwargs: dict[str, Any] = {}

    def run(self, *args: Any, **kwargs: Any) -> Any:
        self.kwargs = kwargs
        return self.fn.run(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.fn, name)


def passed_config(wanted: ConfigJson, kwargs: dict[str, Any]) -> ConfigJson:
    """What a launch's keyword arguments say about each value of the config; what is absent is left out."""
    block = {name: keys.canonical(kwargs[name]) for name in wanted["kwargs"] if name in kwargs}
    options = {name: keys.canonical(kwargs[name]) for name in wanted if name != "kwargs" and name in kwargs}
    return {"kwargs": block, **options}


def check_launch(log: ReplayLog, tuner: Any, use: Use, config: Any, passed: PassedOn | None) -> None:
    """Compare what a launch used, and on its first launch what reached the kernel, with its pin."""
    if passed is not None:
        use.passed = passed_config(use.wanted, passed.kwargs)
        if use.passed != use.wanted:
            log.differs(use, use.passed)
    if tuner.best_config is not config and config_to_json(tuner.best_config) != use.wanted:
        log.differs(use, config_to_json(tuner.best_config))
