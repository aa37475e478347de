"""Three traps, rebuilt from real runs on an H200. Each was published once as a number.

The logs, results and tuner databases are the real ones; the identities say what those runs were.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import sqlite3
from pathlib import Path

import pytest

from tests.unit.judge.real_runs import DATA, SIDES
from zlbench_core.commands.cli import main
from zlbench_core.common.files import sha256_of, write_json
from zlbench_core.errors import ConfigError
from zlbench_core.judge.compare import compare_runs
from zlbench_core.judge.ir.compare import GateResult
from zlbench_core.judge.ir.gate import gate_document
from zlbench_core.judge.summary import summarise

H200 = DATA / "flaggems-h200"
TUNED = re.compile(r"Triton autotuning for function \S+ finished after")
SHARED = "shared(/home/user/.flaggems)"
IDENTITY = {
    "schema_version": 1,
    "provider": "flaggems",
    "op": "mm",
    "test_node": "benchmark/test_mm.py::test_mm",
    "harness": "h",
    "provider_commit": "ed2508bcb",
    "provider_dirty": False,
    "backend": "cuda",
    "device": "NVIDIA H200",
    "device_uuid": "GPU-1",
    "bench_level": "core",
    "shape_mode": "upstream",
    "direct_repeat": 1,
    "timer": "direct",
    "tuner_cache": "isolated",
    "autotune_mode": "off",
    "declared": [],
    "plan": "p",
    "status": "complete",
    "pytest_exit": 0,
    "failure": None,
    "timed_out": False,
    "measurement": {"mode": "kernel", "metrics": []},
    "environment": {
        "python": "3.11.7",
        "torch": "2.11.0+cu130",
        "triton": "3.6.0",
        "precision": {"matmul_allow_tf32": False},
        "variables": {},
    },
}


@pytest.fixture
def place(tmp_path):
    """Put a real run of the data folder where a campaign would have it, with the identity of what it was."""

    def put(name: str, side: str, op: str = "mm", **changes) -> Path:
        folder = tmp_path / "results" / "cuda" / op / side / "r1"
        folder.mkdir(parents=True)
        log = H200 / name / "run.log"
        text = log.read_text() if log.exists() else gzip.decompress(Path(f"{log}.gz").read_bytes()).decode()
        # In the field both sides said "kernel", whatever timer stood behind it.
        (folder / "run.log").write_text(text.replace("mode=cudagraph", "mode=kernel"))
        report = (H200 / name / "result.json").read_text()
        (folder / "result.json").write_text(report.replace('"mode": "cudagraph"', '"mode": "kernel"'))
        digests = {file: sha256_of(folder / file) for file in ("run.log", "result.json")}
        own = {"op": op, "side": side, "round": 1, "started": name, "digests": digests}
        node = f"benchmark/test_{op}.py::test_{op}"
        write_json(folder / "run_identity.json", {**IDENTITY, **own, "test_node": node, **changes})
        return folder

    return put


def tuned_keys(name: str) -> int:
    log = H200 / name / "run.log.gz"
    return len(TUNED.findall(gzip.open(log, "rt").read()))


def winners(name: str) -> list[dict]:
    """The winners of a real FlagGems database, in the form in which a replay records what it launched."""
    with gzip.open(H200 / name / "TunedConfig_nvidia_triton_3_6.db.gz") as stream:
        base = sqlite3.connect(":memory:")
        base.deserialize(stream.read())
    tables = [name for (name,) in base.execute("select name from sqlite_master where type = 'table'")]
    [table] = [name for name in tables if "flagtune_default" in name]
    cursor = base.execute(f'select * from "{table}"')
    names = [column[0] for column in cursor.description]
    uses = []
    for row in cursor:
        known = dict(zip(names, row, strict=True))
        key = [value for name, value in known.items() if name.startswith("key_")]
        config = {name: value for name, value in known.items() if not name.startswith("key_")}
        uses.append({"kernel": "mm_kernel_general_host_tma", "key": key, "config": config, "launches": 1})
    return uses


def refused(a: Path, b: Path, field: str, capsys) -> list[str]:
    """Both doors, the command and the summary, refuse by the field's name and print no latency of either run."""
    assert main(["compare", str(a), str(b)]) == 4
    out, err = capsys.readouterr()
    assert any(line.startswith(f"!!! [caliber] {field}") for line in err.splitlines())
    assert main(["compare", "--json", str(a), str(b)]) == 4
    document = capsys.readouterr().out
    assert json.loads(document)["rows"] == []
    latencies = [row["latency"] for row in rows_of(a) + rows_of(b)]
    assert latencies
    assert not any(f"{latency:.4g}" in text for latency in latencies for text in (out, document))
    return json.loads(document)["complaints"]


def rows_of(folder: Path) -> list[dict]:
    report = json.loads((folder / "result.json").read_text())
    return [
        row for entry in report.values() for record in entry.get("details", []) for row in record["result"]
    ]


def test_two_records_of_one_machine_pick_other_winners():
    a, b = ({str(use["key"]): use["config"] for use in winners(name)} for name in ("mm1", "mm2"))
    both = a.keys() & b.keys()
    assert (len(both), sum(a[key] != b[key] for key in both)) == (8, 2)


def test_record_against_record_is_refused(place, capsys):
    a = place("mm_async", "a", autotune_mode="record")
    b = place("mm_inherit", "b", autotune_mode="record")
    told = refused(a, b, "autotune_mode", capsys)
    assert told == [
        "autotune_mode: every side recorded its own winners (record against record); pin one record on both"
    ]


def test_sides_that_replay_pins_of_their_own_are_refused_key_by_key(place, capsys):
    def replay(name: str) -> dict:
        return {"pins_digest": name, "fallbacks": {}, "hits": 8, "launches": 8, "used": winners(name)}

    a = place("mm_async", "a", autotune_mode="replay", replay=replay("mm1"))
    b = place("mm_inherit", "b", autotune_mode="replay", replay=replay("mm2"))
    told = refused(a, b, "replay.pins_digest", capsys)
    keys = [line for line in told if line.startswith("replay.used:")]
    assert len(keys) == 2
    assert all("[384, 384, 384, 384, 384," in line for line in keys)


def test_a_tuner_cache_that_the_other_side_left_is_refused(place, capsys):
    cold, warm = tuned_keys("mm_async"), tuned_keys("mm_inherit")
    assert (cold, warm) == (12, 5)
    a = place("mm_async", "a", tuner_cache=SHARED, replay={"tuned_keys": cold})
    b = place("mm_inherit", "b", tuner_cache=SHARED, replay={"tuned_keys": warm})
    told = refused(a, b, "tuner_cache", capsys)
    assert f"tuner_cache: a tuned 12 keys, b tuned 5 keys on {SHARED}: winners were inherited" in told


def test_an_isolated_side_is_not_compared_with_one_on_a_shared_cache(place, capsys):
    a = place("mm_async", "a", autotune_mode="replay", replay={"fallbacks": {}})
    b = place("mm_inherit", "b", autotune_mode="replay", replay={"fallbacks": {}}, tuner_cache=SHARED)
    assert refused(a, b, "tuner_cache", capsys) == [f"tuner_cache: a=isolated, b={SHARED}"]


def test_a_campaign_that_would_record_on_a_shared_cache_does_not_start(make_campaign):
    with pytest.raises(ConfigError, match="a record on a shared cache inherits winners"):
        make_campaign(tuner_cache="shared:/home/user/.flaggems")


def test_two_timers_are_refused(place, capsys):
    a = place("k_sort", "a", op="sort", timer="direct")
    b = place("cg_sort", "b", op="sort", timer="cuda_graph")
    assert refused(a, b, "timer", capsys) == ["timer: a=direct, b=cuda_graph"]


def test_the_summary_refuses_two_timers_too_and_a_release_marks_every_number(place, make_campaign, tmp_path):
    for name, side, timer in (("k_sort", "a", "direct"), ("cg_sort", "b", "cuda_graph")):
        place(name, side, op="sort", timer=timer)
    folders = [tmp_path / "results/cuda/sort" / side / "r1" for side in "ab"]
    gate = tmp_path / "results/cuda/sort/ir_gate.json"
    write_json(gate, gate_document("sort", GateResult("different"), [], []))
    for released in (False, True):
        campaign = make_campaign(ops=["sort"], sides=SIDES, allow_caliber_mismatch=released)
        out = gate.parent.parent
        summarise(campaign, folders, [gate], out)
        [operator] = json.loads((out / "verdicts.json").read_text())["operators"]
        assert "timer: a r1=direct, b r1=cuda_graph" in operator["refusals"]
        tables = [list(csv.DictReader((out / name).open(newline=""))) for name in ("ab.csv", "summary.csv")]
        if not released:
            assert (operator["verdict"], operator["note"], tables) == ("REFUSED", "", [[], []])
            continue
        assert operator["note"] == "CALIBER MISMATCH RELEASED"
        assert {row["note"] for row in operator["rows"]} == {"CALIBER MISMATCH RELEASED"}
        assert all(len(lines) > 5 for lines in tables)
        assert all(
            line["note"].startswith("CALIBER MISMATCH RELEASED: ") for lines in tables for line in lines
        )
        assert main(["show", str(out)]) == 0


def test_a_released_comparison_marks_every_number(place, capsys):
    a = place("k_sort", "a", op="sort", timer="direct")
    b = place("cg_sort", "b", op="sort", timer="cuda_graph")
    found = compare_runs(a, b, release=True)
    assert found.rows
    assert {row["note"] for row in found.rows} == {"CALIBER MISMATCH RELEASED"}
    assert main(["compare", "--allow-caliber-mismatch", str(a), str(b)]) == 0
    out, err = capsys.readouterr()
    assert out.count("CALIBER MISMATCH RELEASED") == len(found.rows)
    assert "!!! [caliber] timer: a=direct, b=cuda_graph" in err
