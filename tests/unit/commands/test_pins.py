"""zlbench pins show|diff|export|import, on folders that publish_pins made."""

from __future__ import annotations

import json
import sqlite3

import pytest

from tests import DATA
from zlbench_core.commands.cli import main
from zlbench_core.common.files import write_json
from zlbench_core.judge.pins.tuner_database import read_tuner_database
from zlbench_core.pins.keys import key_id
from zlbench_core.pins.pins import load_pins, publish_pins
from zlbench_core.pins.records import Entry, Records, write_records

COMPILER = {"torch": "2.11.0", "triton": "3.6.0", "triton_build": "abc"}
META = {"backend": "cuda", "device": "NVIDIA H200", "compiler": COMPILER, "level": "core"}
H200 = DATA / "flaggems-h200"
DATABASE = "TunedConfig_nvidia_triton_3_6.db.gz"


@pytest.fixture(autouse=True)
def compiler(monkeypatch):
    monkeypatch.setattr("zlbench_core.judge.pins_origin.compiler_of", lambda python: COMPILER)


def pinned(block: int) -> dict:
    return {"kwargs": {"BLOCK": block}, "num_warps": 4}


def entry(key: list, block: int | None, source: str = "s", ties: tuple[int, ...] = (), **fields) -> Entry:
    winner = None if block is None else pinned(block)
    near = [{"config": pinned(tie), "ms": 0.101} for tie in ties]
    known = {"kernel": "mm", "kernel_id": "mm-1", "tuner": "Autotuner", "n_configs": 2, "n_finite": 2}
    known |= {"reason": None if winner else "no valid config", "winner_ms": 0.1 if winner else None}
    known |= {"pre_hook": False, "source_digest": source, "near_ties": near, "runners_up": near}
    return Entry(key=key, key_id=key_id(key), winner=winner, **{**known, **fields})


@pytest.fixture
def first(tmp_path):
    entries = [entry([1], 64, ties=(32,)), entry([2], 64, pre_hook=True), entry([3], None), entry([4], 32)]
    publish_pins(tmp_path / "first" / "mm" / "pins", entries, META)
    return tmp_path / "first"


@pytest.fixture
def second(tmp_path):
    entries = [entry([1], 32), entry([2], 128), entry([3], None), entry([5], 32), entry([4], 32, source="t")]
    publish_pins(tmp_path / "second" / "mm" / "pins", entries, {**META, "device": "NVIDIA H100"})
    return tmp_path / "second"


def run(capsys, *args) -> tuple[int, str]:
    code = main(["pins", *map(str, args)])
    out, err = capsys.readouterr()
    return code, out + err


def refused(capsys, *args) -> str:
    code, text = run(capsys, *args)
    assert code == 1
    assert text.count("\n") == 1
    return text


def test_show_names_the_origin_and_every_key(capsys, first):
    code, text = run(capsys, "show", first)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert code == 0
    assert lines[:6] == [
        "op: mm",
        "backend: cuda",
        "device: NVIDIA H200",
        "compiler: torch 2.11.0, triton 3.6.0, triton_build abc",
        "level: core",
        "status: complete",
    ]
    assert lines[6] == "4 keys of 1 kernel, 1 near tie"
    assert sorted(lines[9:]) == [
        "mm s [1] BLOCK: 64, num_warps: 4 0.100000 0.101000 near tie of 2",
        "mm s [2] BLOCK: 64, num_warps: 4 0.100000 - hook",
        "mm s [3] no valid config - - -",
        "mm s [4] BLOCK: 32, num_warps: 4 0.100000 - -",
    ]
    [shown] = json.loads(run(capsys, "show", first, "--json")[1])
    assert (shown["op"], shown["meta"]["device"], len(shown["entries"])) == ("mm", "NVIDIA H200", 4)


@pytest.mark.parametrize("where", ["", "mm", "mm/pins"])
def test_pins_are_found_from_the_campaign_the_operator_and_the_folder(capsys, first, where):
    assert "op: mm\n" in run(capsys, "show", first / where)[1]


def test_show_of_an_operator_without_a_tuner_is_one_line(capsys, tmp_path):
    publish_pins(tmp_path / "scale" / "pins", [], META)
    told = "scale: no autotuned kernel was launched; nothing to pin\n"
    assert run(capsys, "show", tmp_path / "scale") == (0, told)


def test_a_discarded_record_is_shown_with_its_reason(capsys, first):
    (first / "softmax" / "pins").mkdir(parents=True)
    meta = {"schema_version": 1, "status": "discarded", "reason": "shard-1 ended with pytest exit -9"}
    write_json(first / "softmax" / "pins" / "meta.json", meta)
    assert "status: discarded\nreason: shard-1 ended with pytest exit -9" in run(capsys, "show", first)[1]
    assert "shard-1 ended" in refused(capsys, "export", first, first / "all.json")


def test_diff_tells_origin_winners_ties_and_keys_of_one_side(capsys, first, second):
    code, text = run(capsys, "diff", first, second)
    assert code == 4
    assert text.splitlines()[:3] == [
        "op: mm",
        "device: NVIDIA H200 | NVIDIA H100",
        "2 keys agree, 2 differ (1 near ties), 0 only in the first, 1 only in the second",
    ]
    assert "mm [1]: near tie by the first alone" in text
    assert "  first  BLOCK: 64, num_warps: 4 (0.100000 ms); the second's winner took 0.101000 ms here" in text
    assert "mm [2]: beyond noise" in text
    assert "mm [5]: only in the second" in text
    assert "mm: another source" in text
    assert text.splitlines()[-1] == "one may not stand for the other"


def test_near_ties_alone_may_stand_for_each_other(capsys, tmp_path):
    publish_pins(tmp_path / "a" / "pins", [entry([1], 64, ties=(32,))], META)
    publish_pins(tmp_path / "b" / "pins", [entry([1], 32, ties=(64,))], META)
    code, text = run(capsys, "diff", tmp_path / "a", tmp_path / "b", "--json")
    assert code == 0
    [found] = json.loads(text)["operators"].values()
    assert [one["near_tie"] for one in found["different"]] == [["first", "second"]]


def test_another_winner_beyond_noise_may_not_stand_for_the_other(capsys, tmp_path):
    publish_pins(tmp_path / "a" / "pins", [entry([1], 64)], META)
    publish_pins(tmp_path / "b" / "pins", [entry([1], 32)], META)
    assert run(capsys, "diff", tmp_path / "a", tmp_path / "b")[0] == 4


def test_an_operator_of_one_side_is_a_difference(capsys, first, second):
    for root in (first, second):
        publish_pins(root / "sum" / "pins", [], META)
    publish_pins(first / "add" / "pins", [], META)
    code, text = run(capsys, "diff", first, second)
    assert code == 4
    assert "op: add: only in the first" in text


def test_diff_reads_a_shards_record(capsys, first):
    entries = load_pins(first / "mm" / "pins").entries
    write_records(first / "mm" / "record" / "shard-0", Records("partial", "cuda", entries))
    code, text = run(capsys, "diff", first / "mm" / "pins", first / "mm" / "record" / "shard-0")
    assert (code, "4 keys agree, 0 differ" in text) == (0, True)


def test_two_kernels_of_one_name_are_told_by_their_source(capsys, tmp_path):
    one, two = entry([1], 64, source="s"), entry([1], 32, source="t")
    publish_pins(tmp_path / "a", [one, two], META)
    publish_pins(tmp_path / "b", [two, one], META)
    assert run(capsys, "diff", tmp_path / "a", tmp_path / "b")[0] == 0


def test_two_real_records_of_mm_disagree_on_two_of_eight_keys(capsys):
    code, text = run(capsys, "diff", H200 / "mm1" / DATABASE, H200 / "mm2" / DATABASE, "--json")
    [found] = json.loads(text)["operators"].values()
    assert code == 4
    assert (found["same"], len(found["different"]), len(found["only_first"])) == (6, 2, 4)
    assert [(one["key"][0], one["key"][5]) for one in found["different"]] == [
        (384, "float16"),
        (384, "float32"),
    ]
    float16 = found["different"][0]
    assert (float16["first"]["kwargs"]["BLOCK_K"], float16["second"]["kwargs"]["BLOCK_K"]) == (64, 128)
    assert (float16["first_ms"], float16["near_tie"]) == (
        pytest.approx(0.003499, abs=1e-6),
        ["first", "second"],
    )
    # What the choice costs: in the second record the first's winner is 31 % slower than the second's own.
    assert float16["second_of_other_ms"] / float16["second_ms"] == pytest.approx(1.31, abs=0.01)


def test_a_real_database_is_shown_with_times_and_near_ties(capsys):
    text = run(capsys, "show", H200 / "mm1" / DATABASE)[1]
    assert "12 keys of 1 kernel, 8 near ties" in text
    assert "compiler: triton 3.6" in text


def test_a_file_that_is_no_database_is_one_line(capsys, tmp_path):
    (tmp_path / "x.db").write_text("hello, this is no database at all, not even nearly so" * 9)
    assert "is no tuner database" in refused(capsys, "show", tmp_path / "x.db")


def test_pins_travel_in_one_file(capsys, first, tmp_path):
    publish_pins(first / "sum" / "pins", [entry([7], 64)], META)
    assert run(capsys, "export", first, tmp_path / "all.json")[0] == 0
    code, text = run(capsys, "import", tmp_path / "all.json", tmp_path / "new", "--backend", "nvidia")
    assert (code, text.splitlines()) == (
        0,
        [f"imported 4 keys of mm, 1 key of sum to {tmp_path / 'new'}; use it as autotune.from"],
    )
    for op in ("mm", "sum"):
        assert load_pins(tmp_path / "new" / op) == load_pins(first / op / "pins")
    assert run(capsys, "diff", first, tmp_path / "new")[0] == 0


def test_a_bundle_of_another_backend_is_refused(capsys, first, tmp_path):
    run(capsys, "export", first, tmp_path / "all.json")
    text = refused(capsys, "import", tmp_path / "all.json", tmp_path / "new", "--backend", "musa")
    assert "mm is of backend 'cuda'; 'musa' is asked for" in text
    assert not (tmp_path / "new").exists()


def test_pins_are_not_imported_over_others(capsys, first, tmp_path):
    run(capsys, "export", first, tmp_path / "all.json")
    before = load_pins(first / "mm" / "pins")
    assert "never imported over others" in refused(
        capsys, "import", tmp_path / "all.json", first, "--backend", "cuda"
    )
    assert load_pins(first / "mm" / "pins") == before


def test_another_compiler_or_commit_is_named_and_refused_when_strict(capsys, first, tmp_path, monkeypatch):
    other = {**COMPILER, "triton": "3.5.1"}
    monkeypatch.setattr("zlbench_core.judge.pins_origin.compiler_of", lambda python: other)
    run(capsys, "export", first, tmp_path / "all.json")
    args = (
        "import",
        tmp_path / "all.json",
        tmp_path / "new",
        "--backend",
        "cuda",
        "--provider-dir",
        tmp_path,
    )
    code, text = run(capsys, *args, "--strict")
    assert code == 4
    assert "compiler: mm was recorded with triton 3.6.0, here is 3.5.1" in text
    assert "provider_commit: mm was recorded with None" in text
    assert not (tmp_path / "new").exists()
    code, text = run(capsys, *args)
    assert (code, text.count("PINS_WARNING")) == (0, 2)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda ops: ops.update({"../evil": ops["mm"]}), "names the operator '../evil'"),
        (lambda ops: ops.update({"/tmp/evil": ops["mm"]}), "names the operator '/tmp/evil'"),
        (lambda ops: ops.update({"..": ops["mm"]}), "names the operator '..'"),
        (lambda ops: ops["mm"].update(pins=ops["mm"]["pins"].replace("64", "65")), "vouches for pins"),
        (lambda ops: ops["mm"].pop("meta"), "mm has no meta or no pins"),
        (lambda ops: ops.update(mm="x"), "mm has no meta or no pins"),
        (lambda ops: ops.clear(), "is no exported pins"),
    ],
)
def test_a_damaged_bundle_is_refused_and_leaves_nothing(capsys, first, tmp_path, change, told):
    bundle = tmp_path / "all.json"
    run(capsys, "export", first, bundle)
    value = json.loads(bundle.read_text())
    change(value["operators"])
    bundle.write_text(json.dumps(value))
    assert told in refused(capsys, "import", bundle, tmp_path / "sub" / "new", "--backend", "cuda")
    assert not (tmp_path / "sub").exists()
    assert not (tmp_path / "evil").exists()


def test_a_bundle_whose_meta_is_not_complete_leaves_nothing(capsys, first, tmp_path):
    bundle = tmp_path / "all.json"
    run(capsys, "export", first, bundle)
    value = json.loads(bundle.read_text())
    value["operators"]["mm"]["meta"]["status"] = "discarded"
    bundle.write_text(json.dumps(value))
    assert "complete is expected" in refused(
        capsys, "import", bundle, tmp_path / "sub" / "new", "--backend", "cuda"
    )
    assert list((tmp_path / "sub").iterdir()) == []


@pytest.mark.parametrize("action", ["show", "export"])
def test_a_folder_without_pins_is_one_line(capsys, tmp_path, action):
    target = [tmp_path / "x.json"] if action == "export" else []
    assert "no pins" in refused(capsys, action, tmp_path, *target)
    assert "no pins" in refused(capsys, action, tmp_path / "gone", *target)


def test_a_winner_that_was_never_finite_is_no_winner(tmp_path):
    path = tmp_path / "TunedConfig_nvidia_triton_3_6.db"
    connection = sqlite3.connect(path)
    md5, source = "0" * 32, "a" * 32
    connection.execute(f'CREATE TABLE "k_{source}-{md5}" (key_0, BLOCK, num_warps)')
    connection.execute(
        f'CREATE TABLE "k_{source}_benchmark_v2-{md5}" (key_0, BLOCK, num_warps, p50, p20, p80)'
    )
    connection.execute(f'INSERT INTO "k_{source}-{md5}" VALUES (8, 32, 4), (16, 32, 4)')
    inf = float("inf")
    rows = [(8, 32, 4, inf, inf, inf), (16, 32, 4, 0.1, 0.1, 0.1), (16, 64, 4, 0.2, 0.2, 0.2)]
    connection.executemany(f'INSERT INTO "k_{source}_benchmark_v2-{md5}" VALUES (?, ?, ?, ?, ?, ?)', rows)
    connection.commit()
    connection.close()
    entries = {one.key[0]: one for one in read_tuner_database(path).entries}
    assert (entries[8].winner, entries[8].reason) == (None, "no valid config")
    assert (entries[16].winner_ms, entries[16].near_ties) == (0.1, [])
    assert entries[16].runners_up == [{"config": pinned(64), "ms": 0.2}]
