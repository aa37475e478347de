"""The example of docs/operators.md, as it stands there."""

from __future__ import annotations

import json
import re

from .conftest import REPOSITORY

SIDES = {"a": {}, "b": {"env": {"DISABLE_LLVM_OPT": "1"}}}


def test_the_example_of_the_page_runs_and_its_change_reruns_it(campaign, tmp_path):
    page = (REPOSITORY / "docs" / "operators.md").read_text()
    [code] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    own = tmp_path / "own"
    own.mkdir()
    (own / "test_scale.py").write_text(code)
    one = campaign(ops=["scale"], suite_dirs=[str(own)], sides=SIDES, rounds=1, warmup=5, iter=5)
    outcome = one()
    assert outcome.code == 0, outcome.text[-3000:]
    [operator] = json.loads(one.path("verdicts.json").read_text())["operators"]
    assert operator["refusals"] == []
    assert operator["evidence"]["rounds"] == 1
    assert json.loads(one.path("scale", "ir_gate.json").read_text())["first_stage"] == "llir"
    (own / "test_scale.py").write_text(code.replace("* factor, mask", "* factor + 0.0, mask"))
    assert one("-n").jobs["replay_round"] >= 1
