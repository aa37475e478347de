"""A row has one ratio, wherever it is told."""

from __future__ import annotations

import csv
import json

from zlbench_core.judge.summary import summarise


def test_the_table_tells_the_ratio_that_the_verdict_judges(real_runs, make_campaign):
    for number, (a, b) in enumerate([(20.0, 16.0), (22.0, 23.1), (30.0, 19.0)], start=1):
        real_runs.add("mm", "a", number, a, "code")
        real_runs.add("mm", "b", number, b, "other")
    summarise(make_campaign(rounds=3), real_runs.folders(), [real_runs.gate("mm")], real_runs.root)
    [operator] = json.loads((real_runs.root / "verdicts.json").read_text())["operators"]
    [row] = operator["rows"]
    with (real_runs.root / "summary.csv").open(newline="") as stream:
        [line] = csv.DictReader(stream)
    assert float(line["ratio"]) == row["ratio"]
    assert float(line["ratio_min"]) < row["ratio"] < float(line["ratio_max"])
