"""What a user is told in one line, where they made a mistake."""

from __future__ import annotations

import json

from zlbench_core.chain.gate import compare_ir
from zlbench_core.chain.show import show_campaign
from zlbench_core.chain.summary import summarise
from zlbench_core.files import sha256_of, write_json


def shown(real_runs, campaign) -> str:
    summarise(campaign, real_runs.folders(), [real_runs.gate(op) for op in campaign.ops], real_runs.root)
    return show_campaign(real_runs.root)


def test_a_variable_that_changed_no_code_is_a_question_of_its_spelling(real_runs, make_campaign):
    for side in "ab":
        real_runs.add("mm", side, 1, 20.0, "code")
    advice = "NO CODE CHANGE  same code; if TRITON_F32_DEFAULT should have changed it, check the spelling"
    assert advice in shown(real_runs, make_campaign(measure=False))


def test_a_variable_that_reached_one_operator_is_spelt_right(real_runs, make_campaign):
    for side in "ab":
        real_runs.add("mm", side, 1, 20.0, "code")
        real_runs.add("add", side, 1, 20.0, side)
    text = shown(real_runs, make_campaign(measure=False, ops=["mm", "add"]))
    assert "NO CODE CHANGE" in text
    assert "spelling" not in text


FAILED_LOG = """============================= test session starts ==============================
=================================== FAILURES ===================================
___________________________________ test_mm ____________________________________
E       CompilationError: at 7:15:
E       def f():
E           g()
E           ^
E       NameError('g is not defined')
=========================== short test summary info ============================
FAILED test_mm.py::test_mm - CompilationError...
============================== 1 failed in 1.73s ===============================
"""


def fail(real_runs, side: str) -> None:
    """Make a real run one whose kernel did not compile."""
    folder = real_runs.folder(side)
    (folder / "run.log").write_text(FAILED_LOG)
    (folder / "result.json").write_text("{}")
    identity = real_runs.identity(side) | {"status": "failed", "failure": "pytest exit 1", "pytest_exit": 1}
    identity["digests"] |= {name: sha256_of(folder / name) for name in ("run.log", "result.json")}
    write_json(folder / "run_identity.json", identity)


def test_a_failed_run_is_told_with_its_cause_and_its_log_in_one_line(real_runs, make_campaign):
    campaign = make_campaign()
    for side in "ab":
        real_runs.add("mm", side, 1, 20.0, side)
    fail(real_runs, "b")
    gate_file = real_runs.root / "results/cpu/mm/ir_gate.json"
    compare_ir(campaign, "mm", {side: real_runs.folder(side) for side in "ab"}, gate_file)
    assert json.loads(gate_file.read_text())["reason"] == "b: pytest exit 1 (results/cpu/mm/b/r1/run.log)"
    summarise(campaign, real_runs.folders(), [gate_file], real_runs.root)
    [line] = [line for line in show_campaign(real_runs.root).splitlines() if line.startswith("!!! [caliber]")]
    assert "CompilationError: at 7:15: NameError('g is not defined')" in line
    assert "(results/cpu/mm/b/r1/run.log)" in line
