from __future__ import annotations

import json
from dataclasses import replace

import pytest

from zlbench_core.common.files import sha256_of
from zlbench_core.errors import PinsError
from zlbench_core.pins import load_pins, merge_shards, validate_pins
from zlbench_core.pins.coverage import benchmark_plan
from zlbench_core.pins.keys import key_id
from zlbench_core.pins.records import Entry, Records, write_records
from zlbench_core.records.identity import init_identity

IDENTITY = {
    "op": "mm",
    "tuning": {"workers": 8, "pool": "fork", "early_drop": False},
    "provider": "builtin",
    "backend": "cuda",
    "device": "NVIDIA H200",
    "bench_level": "core",
    "tuner_cache": "isolated",
    "status": "complete",
    "pytest_exit": 0,
    "environment": {
        "torch": "2.11.0",
        "triton": "3.6.0",
        "triton_build": "abc",
    },
    "provider_commit": "ed2508bcb",
}


def entry(key: int, block: int | None = 64, ms: float = 0.1, ties: tuple[int, ...] = ()) -> Entry:
    return Entry(
        kernel="mm",
        kernel_id="mm-01",
        source_digest="s",
        key=[key],
        key_id=key_id([key]),
        winner=None if block is None else {"kwargs": {"BLOCK": block}, "num_warps": 4},
        winner_ms=None if block is None else ms,
        reason="no valid config" if block is None else None,
        n_configs=3,
        n_finite=3,
        pre_hook=False,
        near_ties=[{"config": {"kwargs": {"BLOCK": tie}, "num_warps": 4}, "ms": ms} for tie in ties],
        tuner="Autotuner",
    )


def plan(index: int, count: int, mine: list[int], total: int = 4) -> dict:
    part = benchmark_plan("mm", ["float16"], [[1], [2]], (index, count))
    part["walked"]["float16"] = {"total": total, "mine": mine, "finished": True}
    return part


def shard(folder, entries, parts=(), **identity):
    write_records(folder, Records("complete", "cuda", entries, list(parts)))
    digests = {"records.json": sha256_of(folder / "records.json")}
    init_identity(folder, **{**IDENTITY, "digests": digests, **identity})
    (folder / "run.log").write_text("worker log\n")
    return folder


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def refused(tmp_path, shards, **options):
    before = [contents(one) for one in shards if one.exists()]
    result = merge_shards(shards, tmp_path / "op" / "pins", **options)
    assert not result.published
    assert "\n" not in result.reason
    assert not (tmp_path / "op" / "pins").exists()
    written = json.loads((tmp_path / "op" / "discarded.json").read_text())
    assert written["reason"] == result.reason
    assert [contents(one) for one in shards if one.exists()] == before
    return result.reason


@pytest.fixture
def halves(tmp_path):
    one = shard(tmp_path / "shard-0", [entry(1), entry(2, ties=(32,))], [plan(0, 2, [0, 1])])
    two = shard(tmp_path / "shard-1", [entry(3)], [plan(1, 2, [2, 3])])
    return [one, two]


def test_whole_shards_become_pins_that_name_their_origin(tmp_path, halves):
    result = merge_shards(halves, tmp_path / "op" / "pins")
    assert (result.published, result.keys, result.kernels) == (True, 3, 1)
    pins = load_pins(tmp_path / "op" / "pins")
    assert sorted(one.key for one in pins.entries) == [[1], [2], [3]]
    digest = pins.meta.pop("shapes_digest")
    assert len(digest) == 16
    assert pins.meta == {
        "schema_version": 1,
        "status": "complete",
        "backend": "cuda",
        "device": "NVIDIA H200",
        "compiler": {"torch": "2.11.0", "triton": "3.6.0", "triton_build": "abc"},
        "provider": "builtin",
        "provider_commit": "ed2508bcb",
        "level": "core",
        "coverage": {"keys": 3, "kernels": 1},
        "near_ties": [
            {
                "kernel": "mm",
                "key": [2],
                "winner": {"kwargs": {"BLOCK": 64}, "num_warps": 4},
                "winner_ms": 0.1,
                "within_noise": [{"config": {"kwargs": {"BLOCK": 32}, "num_warps": 4}, "ms": 0.1}],
            }
        ],
        "op": "mm",
        "tuning": {"workers": 8, "pool": "fork", "early_drop": False},
        "tuning_s": 0.0,
        "discarded": None,
        "from_cache": 0,
        "no_valid_config": 0,
        "digests": {"pins.json": sha256_of(tmp_path / "op" / "pins" / "pins.json")},
        "source_shards": ["shard-0", "shard-1"],
    }


def test_an_operator_without_tuned_kernels_has_valid_empty_pins(tmp_path):
    merge_shards([shard(tmp_path / "shard-0", [])], tmp_path / "pins")
    validate_pins(tmp_path / "pins")
    assert load_pins(tmp_path / "pins").meta["coverage"] == {"keys": 0, "kernels": 0}


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        ({"status": "running"}, "shard-1 ended with status 'running'"),
        ({"pytest_exit": 1}, "pytest exit 1"),
        ({"pytest_exit": None}, "pytest exit None"),
        ({"device": "NVIDIA H100"}, "shard-1 has device 'NVIDIA H100', shard-0 'NVIDIA H200'"),
        ({"environment": {"triton": "3.5.0"}}, "shard-1 has environment"),
    ],
)
def test_a_shard_that_died_or_ran_elsewhere_discards_the_sweep(tmp_path, halves, ending, told):
    shard(halves[1], [entry(3)], [plan(1, 2, [2, 3])], **ending)
    assert told in refused(tmp_path, halves)


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        ("pytest exit 2", "pytest exit 2"),
        ("timeout: ended after 9 s", "pytest exit 2 (timeout: ended after 9 s)"),
    ],
)
def test_how_a_shard_ended_is_told_once(tmp_path, halves, failure, told):
    ending = {"status": "failed", "pytest_exit": 2, "failure": failure}
    shard(halves[1], [entry(3)], [plan(1, 2, [2, 3])], **ending)
    assert refused(tmp_path, halves) == f"shard-1 ended with status 'failed' and {told}"


def test_a_shard_that_was_killed_mid_sweep_discards_it(tmp_path, halves):
    write_records(halves[1], Records("partial", "cuda", [entry(3)], [plan(1, 2, [2])]))
    assert refused(tmp_path, halves) == "shard-1 wrote only partial records"


def test_a_shard_without_a_folder_discards_the_sweep(tmp_path, halves):
    reason = refused(tmp_path, [*halves, tmp_path / "shard-2"])
    assert "shard-2/run_identity.json does not exist" in reason


def test_a_truncated_shard_file_discards_the_sweep(tmp_path, halves):
    path = halves[1] / "records.json"
    path.write_text(path.read_text()[:200])
    assert "shard-1/records.json cannot be read" in refused(tmp_path, halves)


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ([plan(1, 2, [2])], "no shard walked item 3 of mm float16"),
        ([plan(1, 2, [2, 3], total=5)], "counted different items of mm float16: [4, 5]"),
        ([plan(0, 2, [2, 3])], "mm was split as 0/2, 0/2; every shard of 2 is expected once"),
        ([plan(1, 3, [2, 3])], "mm was split as 0/2, 1/3"),
        ([], "different numbers of benchmarks"),
        ([{**plan(1, 2, [2, 3]), "digest": "other"}], "resolved different dtypes or shapes for mm"),
        (
            [{**plan(1, 2, [2, 3]), "walked": {"float16": {"total": 4, "mine": [2, 3], "finished": False}}}],
            "stopped",
        ),
    ],
)
def test_a_hole_in_coverage_discards_the_sweep(tmp_path, halves, second, told):
    shard(halves[1], [entry(3)], second)
    reason = refused(tmp_path, halves)
    assert reason.startswith("hole in coverage: ")
    assert told in reason


def test_a_dtype_that_no_shard_walked_is_a_hole(tmp_path, halves):
    for index, folder in enumerate(halves):
        part = plan(index, 2, [])
        part["walked"] = {}
        shard(folder, [], [part])
    assert refused(tmp_path, halves) == "hole in coverage: no shard walked mm float16"


def test_shards_that_agree_on_a_key_are_one_pin(tmp_path, halves):
    shard(halves[1], [entry(1, ms=0.13), entry(3)], [plan(1, 2, [2, 3])])
    merge_shards(halves, tmp_path / "pins")
    assert len(load_pins(tmp_path / "pins").entries) == 3


def test_shards_that_disagree_within_noise_keep_the_first_and_list_the_tie(tmp_path, halves):
    shard(halves[1], [entry(1, block=128, ties=(64,)), entry(2, block=32), entry(3)], [plan(1, 2, [2, 3])])
    merge_shards(halves, tmp_path / "pins")
    pins = {one.key[0]: one for one in load_pins(tmp_path / "pins").entries}
    assert (pins[1].winner["kwargs"]["BLOCK"], pins[2].winner["kwargs"]["BLOCK"]) == (64, 64)
    assert [tie["config"]["kwargs"]["BLOCK"] for tie in pins[1].near_ties] == [128]
    assert [tie["config"]["kwargs"]["BLOCK"] for tie in pins[2].near_ties] == [32]


@pytest.mark.parametrize("other", [entry(1, block=128), entry(1, block=None)])
def test_shards_that_disagree_beyond_noise_discard_the_sweep(tmp_path, halves, other):
    shard(halves[1], [other, entry(3)], [plan(1, 2, [2, 3])])
    reason = refused(tmp_path, halves)
    assert reason.startswith(
        "shard-0 and shard-1 disagree on mm key [1]: (BLOCK: 64, num_warps: 4) against ("
    )


@pytest.mark.parametrize(("ms", "published"), [(0.1015, True), (0.1025, False)])
def test_shards_that_dropped_each_others_winner_are_held_against_each_other_by_time(
    tmp_path, halves, ms, published
):
    one, other = (
        replace(entry(1, block=block, ms=took), n_dropped=2) for block, took in ((64, 0.1), (128, ms))
    )
    shard(halves[0], [one, entry(2)], [plan(0, 2, [0, 1])])
    shard(halves[1], [other, entry(3)], [plan(1, 2, [2, 3])])
    result = merge_shards(halves, tmp_path / "pins")
    assert result.published is published
    assert published or result.reason.startswith("shard-0 and shard-1 disagree on mm key [1]")


def test_a_key_that_a_persistent_cache_answered_discards_the_sweep_unless_the_cache_was_shared(
    tmp_path, halves
):
    cached = [replace(entry(3), from_cache=True)]
    shard(halves[1], cached, [plan(1, 2, [2, 3])])
    assert refused(tmp_path, halves) == "shard-1 did not tune mm key [3]: a persistent cache answered"
    for folder, entries, part in zip(
        halves, ([], cached), (plan(0, 2, [0, 1]), plan(1, 2, [2, 3])), strict=True
    ):
        shard(folder, entries, [part], tuner_cache="shared(/cache)")
    assert merge_shards(halves, tmp_path / "pins").published
    assert load_pins(tmp_path / "pins").meta["from_cache"] == 1


def test_a_discarded_sweep_takes_older_pins_away_and_a_good_one_takes_the_reason_away(tmp_path, halves):
    pins = tmp_path / "op" / "pins"
    assert merge_shards(halves, pins).published
    shard(halves[1], [], [plan(1, 2, [2, 3])], status="failed")
    refused(tmp_path, halves)
    shard(halves[1], [entry(3)], [plan(1, 2, [2, 3])])
    assert merge_shards(halves, pins).published
    assert sorted(path.name for path in pins.parent.iterdir()) == ["pins"]


def test_a_publication_that_cannot_be_finished_leaves_nothing(tmp_path, halves, monkeypatch):
    def full_disk(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("zlbench_core.pins.pins.os.replace", full_disk)
    with pytest.raises(OSError, match="No space left"):
        merge_shards(halves, tmp_path / "op" / "pins")
    assert list((tmp_path / "op").iterdir()) == []


def damage_nothing(folder):
    (folder / "pins.json").unlink()


def damage_truncate(folder):
    (folder / "pins.json").write_text((folder / "pins.json").read_text()[:100])


def damage_schema(folder):
    (folder / "pins.json").write_text(json.dumps({"schema_version": 2, "entries": []}))


def damage_other_pins(folder):
    (folder / "pins.json").write_text(json.dumps({"schema_version": 1, "entries": []}))


def damage_meta(folder):
    (folder / "meta.json").unlink()


def damage_entry(folder):
    value = json.loads((folder / "pins.json").read_text())
    value["entries"][0]["winner"] = "BLOCK: 64"
    (folder / "pins.json").write_text(json.dumps(value))


def damage_key(folder):
    value = json.loads((folder / "pins.json").read_text())
    value["entries"][0]["key"] = [99]
    (folder / "pins.json").write_text(json.dumps(value))


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (damage_nothing, "pins.json does not exist"),
        (damage_truncate, "pins.json cannot be read"),
        (damage_schema, "schema_version 2; 1 is expected"),
        (damage_other_pins, "vouches for pins.json"),
        (damage_meta, "meta.json does not exist"),
        (damage_entry, "winner 'BLOCK: 64' is no config"),
        (damage_key, "is not the digest of the key"),
    ],
)
def test_damaged_pins_are_refused_in_one_line(tmp_path, halves, damage, told):
    merge_shards(halves, tmp_path / "pins")
    damage(tmp_path / "pins")
    with pytest.raises(PinsError) as caught:
        validate_pins(tmp_path / "pins")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_folder_is_no_pins(tmp_path):
    with pytest.raises(PinsError, match="is not a directory"):
        load_pins(tmp_path / "pins")


def test_records_that_changed_after_the_run_are_a_discard(tmp_path, halves):
    write_records(halves[1], Records("complete", "cuda", [], [plan(1, 2, [2, 3])]))
    told = "shard-1: records.json is not the file that the run's identity vouches for"
    assert refused(tmp_path, halves) == told


def test_shards_that_tuned_by_other_rules_are_a_discard(tmp_path):
    one = shard(tmp_path / "shard-0", [entry(1)])
    two = shard(tmp_path / "shard-1", [entry(2)], tuning={"workers": 8, "pool": "fork", "early_drop": True})
    assert "shard-1 has tuning" in refused(tmp_path, [one, two])


def test_a_sweep_that_replaces_a_discarded_one_says_so(tmp_path, halves):
    why = {"shards": ["shard-0", "shard-1"], "reason": "hole in coverage"}
    merge_shards(halves, tmp_path / "op" / "pins", discarded=why)
    assert load_pins(tmp_path / "op" / "pins").meta["discarded"] == why
