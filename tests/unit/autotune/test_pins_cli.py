from __future__ import annotations

import json

import pytest

from zlbench_core.autotune.keys import key_id
from zlbench_core.autotune.pins import load_pins, publish_pins
from zlbench_core.autotune.pins_cli import diff, diff_text, export_pins, import_pins, show, show_text
from zlbench_core.autotune.records import Entry, Records, write_records
from zlbench_core.errors import PinsError, UnknownBackendError

META = {
    "backend": "cuda",
    "device": "NVIDIA H200",
    "compiler": {"torch": "2.11.0", "triton": "3.6.0", "triton_build": None},
    "level": "core",
}


@pytest.fixture(autouse=True)
def backends(monkeypatch):
    def normalize(name: str) -> str:
        if name not in ("cuda", "nvidia", "musa"):
            raise UnknownBackendError(name)
        return {"nvidia": "cuda"}.get(name, name)

    monkeypatch.setattr("zlbench_core.backends.normalize_backend_name", normalize, raising=False)


def pinned(block: int) -> dict:
    return {"kwargs": {"BLOCK": block}, "num_warps": 4}


def entry(key: list, block: int | None, source: str = "s", ties: tuple[int, ...] = (), **fields) -> Entry:
    winner = None if block is None else pinned(block)
    near = [{"config": pinned(tie), "ms": 0.1} for tie in ties]
    known = {"kernel": "mm", "kernel_id": "mm-1", "tuner": "Autotuner", "n_configs": 2, "n_finite": 2}
    known |= {"reason": None if winner else "no valid config", "winner_ms": 0.1 if winner else None}
    known |= {"pre_hook": False, "source_digest": source, "near_ties": near}
    return Entry(key=key, key_id=key_id(key), winner=winner, **{**known, **fields})


@pytest.fixture
def first(tmp_path):
    entries = [entry([1], 64, ties=(32,)), entry([2], 64, pre_hook=True), entry([3], None), entry([4], 32)]
    publish_pins(tmp_path / "first", entries, META)
    return tmp_path / "first"


@pytest.fixture
def second(tmp_path):
    entries = [entry([1], 32), entry([2], 128), entry([3], None), entry([5], 32), entry([4], 32, source="t")]
    publish_pins(tmp_path / "second", entries, {**META, "device": "NVIDIA H100"})
    return tmp_path / "second"


def test_show_names_the_origin_and_every_key(first):
    assert show_text(first).splitlines() == [
        "backend: cuda",
        "device: NVIDIA H200",
        "compiler: torch 2.11.0, triton 3.6.0",
        "level: core",
        "status: complete",
        "4 keys of 1 kernels, 1 near ties",
        *sorted(
            [
                "mm  [1]  BLOCK: 64, num_warps: 4  0.100000 ms  near tie",
                "mm  [2]  BLOCK: 64, num_warps: 4  0.100000 ms  hook",
                "mm  [3]  no valid config",
                "mm  [4]  BLOCK: 32, num_warps: 4  0.100000 ms",
            ],
            key=lambda line: key_id([int(line[5])]),
        ),
    ]
    shown = show(first)
    assert shown["meta"]["device"] == "NVIDIA H200"
    assert len(shown["entries"]) == 4


def test_show_of_empty_pins(tmp_path):
    publish_pins(tmp_path / "pins", [], META)
    assert show_text(tmp_path / "pins").splitlines()[-1] == "0 keys of 0 kernels, 0 near ties"


def test_diff_tells_origin_winners_ties_and_keys_of_one_side(first, second):
    found = diff(first, second)
    assert found["origin"] == {"device": ["NVIDIA H200", "NVIDIA H100"]}
    assert found["same"] == 2
    assert sorted((one["key"], one["near_tie"]) for one in found["different"]) == [([1], True), ([2], False)]
    assert (found["only_first"], found["only_second"]) == ([], [{"kernel": "mm", "key": [5]}])
    assert found["source_changed"] == ["mm"]
    text = diff_text(first, second)
    assert "device: NVIDIA H200 | NVIDIA H100" in text
    assert "2 keys agree, 2 differ, 0 only in the first, 1 only in the second" in text
    assert "mm [1] (near tie): BLOCK: 64, num_warps: 4 | BLOCK: 32, num_warps: 4" in text
    assert "mm [5]: only in the second" in text


def test_diff_reads_records_too(first, tmp_path):
    write_records(tmp_path / "shard-0", Records("partial", "cuda", load_pins(first).entries))
    found = diff(first, tmp_path / "shard-0")
    assert (found["same"], found["different"]) == (4, [])
    assert show(tmp_path / "shard-0")["meta"] == {"backend": "cuda", "status": "partial"}


def test_two_kernels_of_one_name_are_not_mixed_up(tmp_path):
    one, two = entry([1], 64, source="s"), entry([1], 32, source="t")
    publish_pins(tmp_path / "a", [one, two], META)
    publish_pins(tmp_path / "b", [two, one], META)
    assert (
        diff(tmp_path / "a", tmp_path / "b")["same"],
        diff(tmp_path / "a", tmp_path / "b")["different"],
    ) == (2, [])


def test_what_is_exported_can_be_imported_elsewhere(first, tmp_path):
    assert export_pins(first, tmp_path / "mm.json") == f"exported 4 keys to {tmp_path}/mm.json"
    import_pins(tmp_path / "mm.json", tmp_path / "there" / "pins", backend="nvidia")
    assert load_pins(tmp_path / "there" / "pins") == load_pins(first)


def test_a_bundle_of_another_backend_is_refused(first, tmp_path):
    export_pins(first, tmp_path / "mm.json")
    with pytest.raises(PinsError, match="is of backend 'cuda'; 'musa' is asked for"):
        import_pins(tmp_path / "mm.json", tmp_path / "pins", backend="musa")
    assert not (tmp_path / "pins").exists()


def test_pins_are_not_imported_over_others(first, second, tmp_path):
    export_pins(first, tmp_path / "mm.json")
    before = load_pins(second)
    with pytest.raises(PinsError, match="never imported over others"):
        import_pins(tmp_path / "mm.json", second, backend="cuda")
    assert load_pins(second) == before


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda value: value.update(pins=value["pins"].replace("64", "65")), "vouches for pins"),
        (lambda value: value.update(kind="other"), "is no exported pins: kind 'other'"),
        (lambda value: value.update(schema_version=2), "schema_version 2; 1 is expected"),
    ],
)
def test_a_damaged_bundle_is_refused(first, tmp_path, change, told):
    export_pins(first, tmp_path / "mm.json")
    value = json.loads((tmp_path / "mm.json").read_text())
    change(value)
    (tmp_path / "mm.json").write_text(json.dumps(value))
    with pytest.raises(PinsError, match=told):
        import_pins(tmp_path / "mm.json", tmp_path / "pins", backend="cuda")


def test_a_folder_that_is_neither_is_refused(tmp_path):
    with pytest.raises(PinsError, match=r"pins\.json does not exist"):
        show(tmp_path)
