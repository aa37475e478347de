"""The table of other tools' rules, over a small stored campaign."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests import ROOT
from zlbench_core.judge.summary import summarise

sys.path.insert(0, str(ROOT / "benchmarks"))

import peer_tables
from peer_rules import PEERS

RATIOS = {"moved": 1.02, "still": 1.0}


@pytest.fixture
def folder(real_runs, make_campaign) -> Path:
    """Two operators, one truly 2% slower on side b, the other with the same times on both."""
    campaign = make_campaign(ops=list(RATIOS), placebo={"ops": "identical", "rounds": 6})
    for op, ratio in RATIOS.items():
        for number in range(1, 7):
            real_runs.add(op, "a", number, 20.0, "code")
            real_runs.add(op, "b", number, 20.0 * ratio, "other" if op == "moved" else "code")
    summarise(campaign, real_runs.folders(), [real_runs.gate(op) for op in RATIOS], real_runs.root)
    return real_runs.root


def printed(capsys) -> dict[str, dict[str, str]]:
    lines = [line.strip("|\n ").split(" | ") for line in capsys.readouterr().out.splitlines()]
    return {cells[0]: dict(zip(lines[0], cells, strict=True)) for cells in lines[2:]}


def test_every_rule_answers_beside_our_verdict(folder, capsys):
    assert peer_tables.main([str(folder)]) == 0
    rows = printed(capsys)
    moved, still, claims = rows.values()
    assert moved["zlbench"] == "SLOWER +2.00%"
    assert {moved[name] for name in PEERS} == {"slower"}
    assert still["zlbench"] == "SAME +0.00% (placebo)"
    assert {still[name] for name in PEERS} <= {"same", "unclear"}
    assert list(claims.values())[:2] == ["called different, of 2", "1"]
    assert {claims[name] for name in PEERS} == {"1"}


def test_samples_in_a_tools_own_order_stand_beside_ours(folder, capsys, tmp_path):
    table = pq.read_table(folder / "samples.parquet").to_pylist()
    for line in table:
        late = 1.01 if line["side"] == "b" and line["op"] == "still" else 1.0
        line["samples_ms"] = [value * late for value in line["samples_ms"]]
        line["value_ms"] *= late
    schema = pq.read_schema(folder / "samples.parquet")
    pq.write_table(peer_tables_table(table, schema), tmp_path / "own.parquet")
    assert peer_tables.main([str(folder), "--own-order", str(tmp_path / "own.parquet")]) == 0
    still = printed(capsys)["still float32 [[32, 32], [32, 32]]"]
    assert still["tritonbench A/B"] == "same / slower"


def test_a_campaign_without_a_verdict_is_one_line(folder, capsys):
    found = json.loads((folder / "verdicts.json").read_text())
    (folder / "verdicts.json").write_text(json.dumps({**found, "operators": []}))
    assert peer_tables.main([str(folder)]) == 1
    assert "there is nothing to compare" in capsys.readouterr().err


def peer_tables_table(lines, schema):
    import pyarrow as pa

    return pa.Table.from_pylist(lines, schema=schema)
