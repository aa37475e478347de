"""Replay mode: answer a tuner's cache from the pins, and keep account of what every launch really used."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from zlbench_core.errors import PinsError
from zlbench_core.pins import keys
from zlbench_core.pins.configs import ConfigJson, build_config, config_to_json, describe, find_equal
from zlbench_core.pins.pins import Pins
from zlbench_core.pins.records import NO_VALID_CONFIG, Entry
from zlbench_core.tuning.tuner_cache import TunerCache

MARKER = "AUTOTUNE_REPLAY_FALLBACK"
KEY_MISSING = "key_missing"
AMBIGUOUS = "ambiguous_kernel"
NO_CONFIG = "no_valid_config"
OTHER_CONFIG = "other_config"
RECORDED = (
    "backend",
    "device",
    "compiler",
    "provider_commit",
    "level",
)  # of the pins' meta, for the identity


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
class Unpinned:
    """A key without a usable pin, and what was launched for it all the same."""

    kernel: str
    key: list[Any]
    reason: str
    config: ConfigJson | None = None  # what the tuner chose by itself
    launches: int = 0


@dataclass
class ReplayLog:
    """The account of one process; `to_json` is the identity's `replay`."""

    pins: Pins
    uses: dict[int, Use] = field(default_factory=dict)  # by the entry's place in the pins
    fallbacks: Counter[str] = field(default_factory=Counter)
    unpinned: list[Unpinned] = field(default_factory=list)
    source_changed: set[str] = field(default_factory=set)
    last: Use | Unpinned | None = None  # of the launch that is under way or was last

    def fall_back(self, reason: str, tuner: Any, key: list[Any]) -> Unpinned:
        self.fallbacks[reason] += 1
        kernel = keys.kernel_name(tuner)
        print(f"{MARKER} reason={reason} kernel={kernel} key={key!r}", flush=True)
        self.unpinned.append(Unpinned(kernel, key, reason))
        return self.unpinned[-1]

    def differs(self, use: Use, launched: ConfigJson) -> None:
        """A launch that did not use its pin's config: counted as a fallback, and both are named."""
        entry = use.entry
        self.fallbacks[OTHER_CONFIG] += 1
        print(
            f"{MARKER} reason={OTHER_CONFIG} kernel={entry.kernel} key={entry.key!r}"
            f" pinned=({describe(use.wanted)}) launched=({describe(launched)})",
            flush=True,
        )

    def launched(self, use: Use | Unpinned) -> None:
        use.launches += 1
        self.last = use

    def to_json(self) -> dict[str, Any]:
        uses = [self.uses[place] for place in sorted(self.uses)]
        meta = self.pins.meta or {}
        return {
            "pins_digest": self.pins.digest,
            "recorded": {name: meta.get(name) for name in RECORDED if meta.get(name) is not None},
            "keys_pinned": len(self.pins.entries),
            "hits": len(uses),
            "launches": sum(use.launches for use in uses),
            "foreign": sum(use.foreign for use in uses),
            "fallbacks": dict(self.fallbacks),
            "used": [use.to_json() for use in uses],
            "unpinned": [asdict(one) for one in self.unpinned],
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

    def use_for(self, tuner: Any, key: Any) -> Use | Unpinned:
        """The pin of a tuner's key, or what stands for it after saying why there is none.

        Raises PinsError when the record found no valid config for the key: nothing may be launched then.
        """
        canonical = keys.canonical_key(key)
        places = self._places.get((keys.kernel_id(tuner), keys.key_id(canonical)), [])
        place = self._choose(tuner, places) if places else None
        if place is None:
            return self.log.fall_back(AMBIGUOUS if places else KEY_MISSING, tuner, canonical)
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


Found = tuple[Use, Any] | Unpinned  # a pin and the tuner's config for it, or what stands for a pin


class PinnedCache(TunerCache):
    """A tuner's cache in which every pinned key is there already. Other keys go on to the tuner's own."""

    def __init__(self, inner: Any, tuner: Any, book: PinBook) -> None:
        super().__init__(inner)
        self.tuner = tuner
        self.book = book
        self.current: Found | None = None  # of the run under way
        self._found: dict[Any, Found] = {}

    def __contains__(self, key: Any) -> bool:
        if key not in self._found:
            self._found[key] = self._find(key)
        self.current = self._found[key]
        return isinstance(self.current, tuple) or key in self.inner

    def _find(self, key: Any) -> Found:
        use = self.book.use_for(self.tuner, key)
        return use if isinstance(use, Unpinned) else (use, config_for(self.tuner, use))

    def __getitem__(self, key: Any) -> Any:
        found = self._found.get(key)
        if not isinstance(found, tuple):
            return self.inner[key]
        self._watch(found[0])
        return found[1]

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
