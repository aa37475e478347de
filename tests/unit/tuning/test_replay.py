from __future__ import annotations

import json
import math
from contextlib import nullcontext

import pytest
from triton.runtime.autotuner import Autotuner

from tests.unit.tuning.autotune_fakes import (
    BatchTuner,
    LibraryEntry,
    LibraryTuner,
    UntimedTuner,
    config,
    launch,
    make_tuner,
)
from zlbench_core.errors import PinsError
from zlbench_core.pins.records import NO_VALID_CONFIG, read_records

TUNERS = pytest.mark.parametrize("cls", [Autotuner, LibraryTuner])
TIMES = {32: 0.30, 64: 0.10, 128: 0.20}


@TUNERS
def test_the_winner_and_the_others_are_recorded_with_their_times(record, cls, tmp_path):
    record(tmp_path)
    launch(make_tuner(TIMES, cls=cls), None, 64)
    [entry] = read_records(tmp_path).entries
    assert entry.winner == {"kwargs": {"BLOCK": 64}, "num_warps": 4, "num_stages": 3, "num_ctas": 1}
    assert entry.winner_ms == 0.10
    assert [(one["config"]["kwargs"]["BLOCK"], one["ms"]) for one in entry.runners_up] == [
        (128, 0.2),
        (32, 0.3),
    ]
    assert (entry.kernel, entry.tuner, entry.n_configs, entry.n_finite) == ("scale", cls.__name__, 3, 3)
    assert (entry.from_cache, entry.pre_hook, entry.near_ties) == (False, False, [])
    assert entry.tuning_s > 0


@TUNERS
def test_a_replay_launches_the_pinned_config_and_never_times(record, replay, cls):
    recorder = record()
    launch(make_tuner(TIMES, cls=cls), None, 64)
    slow_now = make_tuner({32: 0.1, 64: 9.0, 128: 0.2}, cls=cls)
    mode = replay(recorder.entries)
    for _ in range(3):
        launch(slow_now, None, 64)
    assert slow_now.do_bench.asked == []
    assert [meta["BLOCK"] for meta in slow_now.fn.launches] == [64, 64, 64]
    told = mode.log.to_json()
    assert (told["hits"], told["launches"], told["foreign"], told["fallbacks"], told["unused"]) == (
        1,
        3,
        0,
        {},
        0,
    )
    assert told["used"] == [
        {
            "kernel": "scale",
            "key": recorder.entries[0].key,
            "config": recorder.entries[0].winner,
            "launches": 3,
        }
    ]


@TUNERS
def test_a_key_without_a_pin_says_so_once_and_is_tuned(record, replay, cls, capsys):
    recorder = record()
    launch(make_tuner(TIMES, cls=cls), None, 64)
    tuner = make_tuner(TIMES, cls=cls)
    mode = replay(recorder.entries)
    launch(tuner, None, 4096)
    launch(tuner, None, 4096)
    told = capsys.readouterr().out
    assert told == "AUTOTUNE_REPLAY_FALLBACK reason=key_missing kernel=scale key=[4096]\n"
    assert mode.log.to_json()["fallbacks"] == {"key_missing": 1}
    assert tuner.do_bench.asked == [32, 64, 128]
    assert (mode.log.to_json()["launches"], mode.log.to_json()["unused"]) == (0, 1)
    [unpinned] = mode.log.to_json()["unpinned"]
    assert (unpinned["kernel"], unpinned["key"], unpinned["reason"]) == ("scale", [4096], "key_missing")
    assert (unpinned["config"], unpinned["launches"]) == (recorder.entries[0].winner, 2)


def test_launches_of_an_entry_without_a_pin_are_counted_too(record, replay):
    tuner = make_tuner(TIMES, cls=LibraryTuner)
    mode = replay([])
    entry = LibraryEntry(tuner)
    for _ in range(3):
        entry.run(None, 64, grid=(1,), warmup=False)
    assert len(tuner.fn.launches) == 1 + len(TIMES)
    [unpinned] = mode.log.to_json()["unpinned"]
    assert (unpinned["config"]["kwargs"], unpinned["launches"]) == ({"BLOCK": 64}, 3)


@pytest.mark.parametrize(
    ("times", "winner"),
    [
        ({1: math.inf, 2: math.inf}, None),
        ({1: math.inf, 2: 0.2}, 2),
        ({1: math.nan, 2: 0.2}, 2),
    ],
)
def test_a_winner_that_is_not_finite_is_refused(record, times, winner):
    recorder = record()
    launch(make_tuner(times), None, 64)
    [entry] = recorder.entries
    assert (entry.winner and entry.winner["kwargs"]["BLOCK"]) == winner
    assert entry.reason == (NO_VALID_CONFIG if winner is None else None)
    assert entry.n_finite == (0 if winner is None else 1)


def test_a_key_without_a_valid_config_is_not_launched(record, replay, capsys):
    recorder = record()
    launch(make_tuner({1: math.inf, 2: math.inf}), None, 64)
    tuner = make_tuner({1: 0.1, 2: 0.2})
    mode = replay(recorder.entries)
    with pytest.raises(PinsError, match="scale key"):
        launch(tuner, None, 64)
    assert tuner.fn.launches == []
    assert "reason=no_valid_config" in capsys.readouterr().out
    assert mode.log.to_json()["fallbacks"] == {"no_valid_config": 1}


@TUNERS
def test_the_pinned_configs_hook_runs_at_replay(record, replay, cls):
    """`out += x` with reset to zero by the config's hook: the replay's result is the record's."""
    out = [0]

    def hook(nargs):
        out[0] = 0

    def body(x, n, **meta):
        out[0] += x

    configs = [config(32), config(64, pre_hook=hook)]
    recorder = record()
    launch(make_tuner(TIMES, cls=cls, configs=configs, body=body), 5, 64)
    recorded, out[0] = out[0], 7
    mode = replay(recorder.entries)
    launch(make_tuner(TIMES, cls=cls, configs=configs, body=body), 5, 64)
    assert recorder.entries[0].pre_hook
    assert (out[0], recorded, mode.log.to_json()["foreign"]) == (5, 5, 0)


def test_a_pin_that_the_tuner_no_longer_lists_is_built_and_noted_as_foreign(record, replay):
    recorder = record()
    launch(make_tuner(TIMES), None, 64)
    tuner = make_tuner({32: 0.1, 128: 0.2})
    mode = replay(recorder.entries)
    launch(tuner, None, 64)
    assert tuner.fn.launches[-1]["BLOCK"] == 64
    assert mode.log.to_json()["foreign"] == 1


def test_a_foreign_pin_recorded_with_a_hook_takes_the_one_hook_that_the_tuner_has(record, replay):
    calls = []
    recorder = record()
    launch(make_tuner(TIMES, configs=[config(64, pre_hook=calls.append), config(32)]), None, 64)
    replay(recorder.entries)
    calls.clear()
    launch(make_tuner(TIMES, configs=[config(one, pre_hook=calls.append) for one in (32, 128)]), None, 64)
    assert calls[-1]["BLOCK"] == 64


def test_a_foreign_pin_recorded_with_a_hook_is_refused_without_one(record, replay):
    recorder = record()
    launch(make_tuner(TIMES, configs=[config(64, pre_hook=lambda nargs: None), config(32)]), None, 64)
    replay(recorder.entries)
    tuner = make_tuner(TIMES, configs=[config(32), config(128)])
    with pytest.raises(PinsError, match="recorded with a pre_hook"):
        launch(tuner, None, 64)
    assert tuner.fn.launches == []


def test_a_library_entry_that_skips_the_tuner_is_counted_launch_by_launch(record, replay):
    recorder = record()
    launch(make_tuner(TIMES, cls=LibraryTuner), None, 64)
    launch(make_tuner(TIMES, cls=LibraryTuner), None, 128)
    mode = replay(recorder.entries)
    tuner = make_tuner(TIMES, cls=LibraryTuner)
    entry = LibraryEntry(tuner)
    for n in (64, 64, 128, 64, 50, 50):
        launch(entry, None, n)
    used = {tuple(one["key"]): one["launches"] for one in mode.log.to_json()["used"]}
    assert used == {(64,): 5, (128,): 1}
    assert len(tuner.fn.launches) == 3


def test_an_entry_that_launches_another_config_is_a_named_fallback(record, replay, capsys):
    class Straying(LibraryEntry):
        def run(self, *args, **kwargs):
            kernel, constants = super().run(*args, **kwargs)
            return kernel, {**constants, "num_warps": 8}

    recorder = record()
    launch(make_tuner(TIMES, cls=LibraryTuner), None, 64)
    mode = replay(recorder.entries)
    launch(Straying(make_tuner(TIMES, cls=LibraryTuner)), None, 64)
    assert mode.log.to_json()["fallbacks"] == {"other_config": 1}
    assert "launched=(BLOCK: 64, num_warps: 8" in capsys.readouterr().out


def test_a_tuner_that_passes_on_another_value_is_a_named_fallback(record, replay):
    class PassesFewerWarps(LibraryTuner):
        def run(self, *args, **kwargs):
            key = self.get_key(dict(zip(self.arg_names, args, strict=False)))
            assert key in self.cache
            self.best_config = self.cache[key]
            return self.fn.run(*args, **kwargs, **{**self.best_config.all_kwargs(), "num_warps": 1})

    recorder = record()
    launch(make_tuner(TIMES, cls=LibraryTuner), None, 64)
    mode = replay(recorder.entries)
    launch(make_tuner(TIMES, cls=PassesFewerWarps), None, 64)
    assert mode.log.to_json()["fallbacks"] == {"other_config": 1}
    assert mode.log.to_json()["used"][0]["config"]["num_warps"] == 1


def test_a_tuner_that_ends_with_another_best_config_is_a_named_fallback(record, replay):
    class EndsElsewhere(Autotuner):
        def run(self, *args, **kwargs):
            result = super().run(*args, **kwargs)
            self.best_config = self.configs[0]
            return result

    recorder = record()
    launch(make_tuner(TIMES), None, 64)
    mode = replay(recorder.entries)
    launch(make_tuner(TIMES, cls=EndsElsewhere), None, 64)
    assert mode.log.to_json()["fallbacks"] == {"other_config": 1}


def test_a_persistent_cache_hit_is_no_fresh_record(record):
    store = {}
    recorder = record()
    launch(make_tuner(TIMES, cls=LibraryTuner, store=store), None, 64)
    assert not recorder.entries[0].from_cache
    again = make_tuner(TIMES, cls=LibraryTuner, store=store)
    launch(again, None, 64)
    assert not recorder.entries[0].from_cache, "what was tuned in this process stays a fresh record"
    again.cache = {(128,): again.configs[2]}
    launch(again, None, 128)
    entry = next(one for one in recorder.entries if one.key == [128])
    assert (entry.from_cache, entry.winner["kwargs"]["BLOCK"], entry.winner_ms) == (True, 128, None)


def test_a_partly_cached_sweep_is_no_fresh_record(record):
    recorder = record()
    tuner = make_tuner(TIMES, cls=LibraryTuner)
    tuner.benchmarks[tuner.configs[0]] = [0.01, 0.01, 0.01]
    launch(tuner, None, 64)
    assert recorder.entries[0].from_cache


def test_tritons_own_disk_cache_of_timings_is_no_fresh_record(record, monkeypatch):
    def from_disk(self, key, configs, bench_fn):
        self.cache[key] = configs[1]
        self.configs_timings = {configs[1]: [0.1, 0.1, 0.1], configs[0]: [0.2, 0.2, 0.2]}
        return True

    monkeypatch.setattr(Autotuner, "check_disk_cache", from_disk)
    recorder = record()
    tuner = make_tuner(TIMES)
    tuner.cache_results = True
    launch(tuner, None, 64)
    assert recorder.entries[0].from_cache
    assert recorder.entries[0].winner["kwargs"]["BLOCK"] == 64


def test_a_tuner_that_times_in_batches_is_recorded_and_replayed(record, replay):
    recorder = record()
    launch(make_tuner(TIMES, cls=BatchTuner), None, 64)
    [entry] = recorder.entries
    assert (entry.winner["kwargs"]["BLOCK"], entry.from_cache, entry.n_configs) == (64, False, 3)
    mode = replay(recorder.entries)
    launch(make_tuner(TIMES, cls=BatchTuner), None, 64)
    assert mode.log.to_json()["hits"] == 1


@pytest.mark.parametrize("cls", [BatchTuner, UntimedTuner])
def test_the_only_config_that_pruning_left_is_pinned_without_a_time(record, replay, cls):
    def prune_to_128(configs, named_args, **kwargs):
        return configs[-1:]

    recorder = record()
    pruned = {"cls": cls, "prune_configs_by": {"early_config_prune": prune_to_128}}
    tuner = make_tuner(TIMES, **pruned)
    launch(tuner, None, 64)
    launch(tuner, None, 64)
    [entry] = recorder.entries
    assert (entry.winner["kwargs"]["BLOCK"], entry.winner_ms, entry.from_cache) == (128, None, False)
    mode = replay(recorder.entries)
    launch(make_tuner(TIMES, **pruned), None, 64)
    assert mode.log.to_json()["fallbacks"] == {}


@pytest.mark.parametrize("cls", [BatchTuner, UntimedTuner])
def test_an_only_config_is_not_told_with_the_times_of_the_key_before(record, cls):
    def prune_to_128_from_100_on(configs, named_args, **kwargs):
        return configs[-1:] if named_args["n"] >= 100 else configs

    recorder = record()
    tuner = make_tuner(TIMES, cls=cls, prune_configs_by={"early_config_prune": prune_to_128_from_100_on})
    launch(tuner, None, 64)
    launch(tuner, None, 200)
    first, second = recorder.entries
    assert (first.winner["kwargs"]["BLOCK"], first.winner_ms is None) == (64, False)
    assert (second.winner["kwargs"]["BLOCK"], second.winner_ms, second.runners_up) == (128, None, [])
    assert not second.from_cache


@pytest.mark.parametrize("cls", [BatchTuner, UntimedTuner])
def test_the_only_config_is_not_pinned_when_its_launch_failed(record, cls):
    def body(x, n, **meta):
        raise RuntimeError("launch failure")

    recorder = record()
    tuner = make_tuner(TIMES, cls=cls, configs=[config(32)], body=body)
    with pytest.raises(RuntimeError):
        launch(tuner, None, 64)
    assert recorder.entries == []


def test_a_record_that_cannot_be_written_ends_the_run(record, tmp_path, monkeypatch):
    def full_disk(*args):
        raise OSError(28, "No space left on device")

    record(tmp_path)
    monkeypatch.setattr("zlbench_core.tuning.recorder.write_records", full_disk)
    with pytest.raises(OSError, match="No space left"):
        launch(make_tuner(TIMES), None, 64)


@pytest.mark.parametrize("fails", [False, True])
def test_a_replayed_tuner_has_its_own_function_afterwards(record, replay, fails):
    def body(x, n, **meta):
        if fails:
            raise RuntimeError("launch failure")

    recorder = record()
    launch(make_tuner(TIMES), None, 64)
    replay(recorder.entries)
    tuner = make_tuner(TIMES, body=body)
    jit = tuner.fn
    with pytest.raises(RuntimeError) if fails else nullcontext():
        launch(tuner, None, 64)
    assert tuner.fn is jit


def test_one_entry_per_dtype_and_key(record):
    class Tensor:
        def __init__(self, dtype):
            self.dtype = dtype

    recorder = record()
    tuner = make_tuner(TIMES)
    for dtype in ("torch.float16", "torch.float32"):
        for n in (64, 128, 64):
            launch(tuner, Tensor(dtype), n)
    assert [entry.key for entry in recorder.entries] == [
        [64, "torch.float16"],
        [128, "torch.float16"],
        [64, "torch.float32"],
        [128, "torch.float32"],
    ]


def test_a_single_config_is_not_tuned_and_needs_no_pin(record, replay):
    recorder = record()
    launch(make_tuner({32: 0.1}), None, 64)
    assert recorder.entries == []
    mode = replay([])
    launch(make_tuner({32: 0.1}), None, 64)
    assert mode.log.to_json()["fallbacks"] == {}


def test_records_are_on_disk_as_they_arrive_and_partial_until_the_end(record, tmp_path):
    recorder = record(tmp_path)
    tuner = make_tuner(TIMES)
    launch(tuner, None, 64)
    first = json.loads((tmp_path / "records.json").read_text())
    launch(tuner, None, 128)
    assert (first["status"], len(first["entries"])) == ("partial", 1)
    assert len(read_records(tmp_path).entries) == 2
    recorder.finish(complete=True)
    assert read_records(tmp_path).status == "complete"


def test_a_tuning_that_fails_leaves_no_entry(record):
    def body(x, n, **meta):
        raise RuntimeError("launch failure")

    recorder = record()
    with pytest.raises(RuntimeError):
        launch(make_tuner(TIMES, body=body), None, 64)
    assert recorder.entries == []


def test_the_top_two_within_noise_are_listed(record):
    recorder = record()
    launch(make_tuner({32: 0.1000, 64: 0.1010, 128: 0.2}), None, 64)
    assert [one["config"]["kwargs"]["BLOCK"] for one in recorder.entries[0].near_ties] == [64]


def test_a_changed_source_is_replayed_and_named(record, replay):
    def scale(x, n, BLOCK):
        return x  # another body

    recorder = record()
    launch(make_tuner(TIMES), None, 64)
    mode = replay(recorder.entries)
    launch(make_tuner(TIMES, kernel=scale), None, 64)
    told = mode.log.to_json()
    assert (told["hits"], told["source_changed"], told["fallbacks"]) == (1, ["scale"], {})


def test_two_kernels_of_one_name_are_told_by_their_source(record, replay):
    def other():
        def scale(x, n, BLOCK):
            return n

        return scale

    def third():
        def scale(x, n, BLOCK):
            return BLOCK

        return scale

    recorder = record()
    launch(make_tuner({32: 0.1, 64: 0.2}), None, 64)
    launch(make_tuner({32: 0.2, 64: 0.1}, kernel=other()), None, 64)
    mode = replay(recorder.entries)
    one, two, unknown = (
        make_tuner(TIMES),
        make_tuner(TIMES, kernel=other()),
        make_tuner(TIMES, kernel=third()),
    )
    for tuner in (one, two, unknown):
        launch(tuner, None, 64)
    assert one.fn.launches[-1]["BLOCK"] == 32
    assert two.fn.launches[-1]["BLOCK"] == 64
    assert mode.log.to_json()["fallbacks"] == {"ambiguous_kernel": 1}


def test_unpatching_gives_the_tuners_back(patches, record):
    before = (Autotuner.run, LibraryTuner.run, Autotuner.prune_configs, Autotuner._bench)
    record()
    assert Autotuner.run is not before[0]
    assert LibraryTuner.run is not before[1]
    patches.undo()
    assert (Autotuner.run, LibraryTuner.run, Autotuner.prune_configs, Autotuner._bench) == before
