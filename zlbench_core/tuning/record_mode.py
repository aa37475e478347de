"""Record: the methods of tuners that are wrapped, and what the wrappers do."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from zlbench_core.tuning.claims import Claims
from zlbench_core.tuning.compile_ahead import Ahead, Settings
from zlbench_core.tuning.recorder import Recorder, RecordingCache, Tuning
from zlbench_core.tuning.shards import Sharding
from zlbench_core.tuning.tuners import Patches, tuner_classes


class RecordMode:
    name = "record"

    def __init__(
        self,
        recorder: Recorder,
        shard: tuple[int, int] = (0, 1),
        ahead: Ahead | None = None,
        claims: Path | None = None,
    ) -> None:
        self.recorder = recorder
        self.ahead = ahead or Ahead(Settings.read())
        taken = None if claims is None else Claims(claims, shard[0])
        self.sharding = Sharding(shard, recorder.plan, self._coming, taken)
        self._tunings: dict[int, Tuning] = {}

    def _coming(self, dtypes: list[Any]) -> None:
        self.ahead.prefetch.dtypes = dtypes

    def patch(self, patches: Patches) -> None:
        for cls in tuner_classes():
            patches.wrap(cls, "run", self._wrap_run)
            patches.wrap(cls, "prune_configs", self._wrap_prune)
            patches.wrap(cls, "_bench", self._wrap_bench)
            patches.wrap(cls, "_batch_bench", self._wrap_bench)
        self.sharding.patch(patches)

    def _wrap_run(self, original: Any) -> Any:
        def run(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            if id(tuner) in self._tunings:
                return original(tuner, *args, **kwargs)
            tuning = self._tunings[id(tuner)] = Tuning(tuner, args, kwargs)
            cache = self._watch(tuner)
            cache.tuning = tuning
            try:
                result = original(tuner, *args, **kwargs)
                tuning.returned = True
                return result
            finally:
                cache.tuning = None
                del self._tunings[id(tuner)]
                self.recorder.settle(tuning)

        return run

    def _watch(self, tuner: Any) -> RecordingCache:
        if type(tuner.cache) is not RecordingCache:
            tuner.cache = RecordingCache(tuner.cache)
        return tuner.cache

    def _wrap_prune(self, original: Any) -> Any:
        def prune_configs(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            configs = list(original(tuner, *args, **kwargs))
            tuning = self._tunings.get(id(tuner))
            if tuning is None:
                return configs
            tuning.configs = configs
            kept, tuning.dropped = self.ahead.prepare(tuner, tuning.args, tuning.kwargs, configs)
            return kept

        return prune_configs

    def _wrap_bench(self, original: Any) -> Any:
        def bench(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            tuning = self._tunings.get(id(tuner))
            if tuning is not None:
                tuning.timed_here += 1
            return original(tuner, *args, **kwargs)

        return bench

    def finish(self, *, complete: bool) -> dict[str, Any]:
        self.ahead.prefetch.close()
        self.recorder.finish(complete=complete)
        return {"tuning": asdict(self.ahead.settings)}
