"""Record mode: watch every tuner, write what it chose, flag what it did not choose in this run."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zlbench_core.pins import keys
from zlbench_core.pins.configs import config_to_json
from zlbench_core.pins.near_ties import Timed, Timing, near_ties, ranking
from zlbench_core.pins.records import NO_VALID_CONFIG, Entry, EntryId, Records, write_records
from zlbench_core.tuning.tuner_cache import TunerCache

RUNNERS_UP = 5
NEAR_TIES = 10


@dataclass
class Tuning:
    """One call of a tuner's run: what it asked for and what it timed."""

    tuner: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    key: Any = None
    was_set: bool = False
    started: float | None = None
    tuning_s: float | None = None
    timed_here: int = 0
    returned: bool = False
    configs: list[Any] = field(default_factory=list)
    dropped: list[Timed] = field(default_factory=list)
    timings_before: Any = None

    def __post_init__(self) -> None:
        self.timings_before = _kept_timings(self.tuner)

    @property
    def timings(self) -> Mapping[Any, Any]:
        """What the tuner kept of this call: none where it timed nothing and still holds an earlier key's."""
        kept = _kept_timings(self.tuner)
        return {} if kept is None or kept is self.timings_before else kept

    @property
    def only_config(self) -> bool:
        return self.started is not None and len(self.configs) == 1

    @property
    def was_tuned(self) -> bool:
        return self.was_set and not (self.only_config and not self.timings)


class RecordingCache(TunerCache):
    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.tuning: Tuning | None = None

    def __contains__(self, key: Any) -> bool:
        found = key in self.inner
        if self.tuning is not None:
            self.tuning.key = key
            self.tuning.started = None if found else time.perf_counter()
        return found

    def __setitem__(self, key: Any, config: Any) -> None:
        self.inner[key] = config
        tuning = self.tuning
        if tuning is not None:
            tuning.key, tuning.was_set = key, True
            tuning.tuning_s = time.perf_counter() - tuning.started if tuning.started is not None else None


class Recorder:
    """The entries of one process. With no folder nothing is written."""

    def __init__(self, folder: Path | None, backend: str) -> None:
        self.folder = folder
        self.backend = backend
        self.plan: list[dict[str, Any]] = []
        self.status = "partial"
        self._entries: dict[EntryId, Entry] = {}
        self._settled: set[tuple[int, Any]] = set()
        self._tuners: list[Any] = []

    @property
    def entries(self) -> list[Entry]:
        return list(self._entries.values())

    def settle(self, tuning: Tuning) -> None:
        """Keep what a finished (or failed) run of a tuner tells about its key."""
        if tuning.key is None or not (
            tuning.was_tuned or _pruned_to_one(tuning) or self._was_answered(tuning)
        ):
            return
        self._settled.add((id(tuning.tuner), tuning.key))
        self._tuners.append(tuning.tuner)  # an id is only unique while its object lives
        self._add(entry_of(tuning))

    def _was_answered(self, tuning: Tuning) -> bool:
        """The tuner's cache knew the key, and not from this process."""
        return tuning.started is None and (id(tuning.tuner), tuning.key) not in self._settled

    def _add(self, entry: Entry) -> None:
        old = self._entries.get(entry.id)
        if old is None or (old.from_cache and not entry.from_cache):
            self._entries[entry.id] = entry
            self.write()

    def write(self) -> None:
        if self.folder is not None:
            write_records(self.folder, Records(self.status, self.backend, self.entries, self.plan))

    def finish(self, *, complete: bool) -> None:
        self.status = "complete" if complete else "partial"
        self.write()


def entry_of(tuning: Tuning) -> Entry:
    """The record of one key, from the timings that the tuner kept."""
    timed = _timed(tuning) if tuning.was_tuned else []
    ranked = ranking(timed)
    winner = _winner(tuning, ranked)
    key = keys.canonical_key(tuning.key)
    dropped = [one for one in tuning.dropped if one.timing.finite]
    return Entry(
        kernel=keys.kernel_name(tuning.tuner),
        kernel_id=keys.kernel_id(tuning.tuner),
        source_digest=keys.source_digest(tuning.tuner),
        key=key,
        key_id=keys.key_id(key),
        winner=None if winner is None else config_to_json(winner.config),
        winner_ms=winner.timing.p50 if winner is not None and winner.timing.finite else None,
        reason=NO_VALID_CONFIG if winner is None else None,
        runners_up=_listed(_others(ranked, winner)[:RUNNERS_UP]),
        near_ties=_listed(near_ties(ranked)[:NEAR_TIES]),
        n_configs=len(tuning.configs) or len(timed),
        n_finite=len(ranked) + len(dropped),
        n_dropped=len(tuning.dropped),
        pre_hook=winner is not None and winner.config.pre_hook is not None,
        tuner=_tuner_name(tuning.tuner),
        tuning_s=tuning.tuning_s,
        from_cache=_is_from_cache(tuning),
    )


def _kept_timings(tuner: Any) -> Mapping[Any, Any] | None:
    return getattr(tuner, "configs_timings", None)


def _timed(tuning: Tuning) -> list[Timed]:
    return [Timed(config, Timing.of(raw)) for config, raw in tuning.timings.items()]


def _winner(tuning: Tuning, ranked: list[Timed]) -> Timed | None:
    """The fastest finite config; min() over timings with a nan in front would take the nan."""
    if tuning.was_tuned:
        return ranked[0] if ranked else None
    config = getattr(tuning.tuner, "best_config", None)
    return None if config is None else Timed(config, Timing.of(float("nan")))


def _others(ranked: list[Timed], winner: Timed | None) -> list[Timed]:
    return [one for one in ranked if one is not winner]


def _listed(timed: Iterable[Timed]) -> list[dict[str, Any]]:
    return [{"config": config_to_json(one.config), "ms": one.timing.p50} for one in timed]


def _is_from_cache(tuning: Tuning) -> bool:
    """A persistent cache answered, wholly (nothing was timed here) or for some of the configs."""
    if _pruned_to_one(tuning):
        return False
    hits = getattr(tuning.tuner, "benchmark_cache_hit_count", 0)
    return not tuning.was_tuned or tuning.timed_here == 0 or bool(hits)


def _pruned_to_one(tuning: Tuning) -> bool:
    """Ascend's tuner, and Triton's since 3.9, launch the only config that pruning left without timing it."""
    return tuning.returned and tuning.only_config and not tuning.timings


def _tuner_name(tuner: Any) -> str:
    """The class that defines run: Autotuner, or the library's subclass of it."""
    return next(cls.__name__ for cls in type(tuner).__mro__ if "run" in vars(cls))
