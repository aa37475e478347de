"""What a user is told in one line, where they made a mistake."""

from __future__ import annotations

import json

import pytest

from zlbench_core.commands.cli import main
from zlbench_core.common.files import sha256_of, write_json
from zlbench_core.judge.gate import compare_ir
from zlbench_core.judge.show import show_campaign
from zlbench_core.judge.status import failure_causes
from zlbench_core.judge.summary import summarise
from zlbench_core.run.record import publish_pins
from zlbench_core.run.replay import _missing_pins


def shown(real_runs, campaign) -> str:
    summarise(
        campaign, real_runs.folders(), [real_runs.gate(op) for op in campaign.subject.ops], real_runs.root
    )
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


def test_a_record_that_failed_says_why_where_the_replays_have_no_pins(real_runs, make_campaign):
    real_runs.add("mm", "a", 1, 20.0, "code")
    fail(real_runs, "a")
    publish_pins(
        make_campaign().record_of("mm"),
        "mm",
        [real_runs.folder("a")],
        None,
        real_runs.root / "pins",
        failure_causes,
        60,
    )
    told = _missing_pins(real_runs.root / "pins")
    cause = (
        "no pins: CompilationError: at 7:15: NameError('g is not defined') (results/cpu/mm/a/r1/run.log); "
    )
    assert told.startswith(cause)
    assert "ended with status 'failed' and pytest exit 1" in told
    assert told.endswith(" (pins/meta.json: discarded)")


def test_runs_of_two_operators_have_that_as_their_only_reason(real_runs, capsys):
    real_runs.add("mm", "a", 1, 20.0, "code")
    real_runs.add("add", "b", 1, 20.0, "other", timer="cuda_graph")
    runs = [str(real_runs.folder("a")), str(real_runs.folder("b", op="add"))]
    told = "!!! [caliber] op: a is a run of mm, b of add; two runs of one operator can be compared\n"
    for release in ([], ["--allow-caliber-mismatch"]):
        assert main(["compare", *runs, *release]) == 4
        assert capsys.readouterr() == ("", told)


def test_a_comparison_of_single_rounds_says_where_they_ran_and_that_it_has_no_verdict(real_runs, capsys):
    for side in "ab":
        real_runs.add("mm", side, 1, 20.0, side)
    runs = [str(real_runs.folder(side)) for side in "ab"]
    assert main(["compare", *runs]) == 0
    where, _, _, row, note = capsys.readouterr().out.splitlines()
    assert where == "measured on cpu-interpreter/cuda:90"
    assert row.startswith("mm ")
    assert note.startswith("one round a side: no error bar and no verdict")
    main(["compare", "--json", *runs])
    assert json.loads(capsys.readouterr().out)["note"] == note


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        (["compare", "gone", "lost"], 1),
        (["show", "gone"], 1),
        (["show", "gone", "--markdown"], 1),
        (["show", "gone", "--json"], 1),
        (["report", "gone"], 1),
    ],
)
def test_a_folder_that_is_not_there_is_told_once(real_runs, capsys, command, lines):
    assert main(command) in (1, 4)
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", lines)
    assert err.count("gone") == 1


def test_a_run_to_compare_that_is_not_there_is_a_mistake_in_the_input(real_runs, capsys):
    real_runs.add("mm", "a", 1, 20.0, "code")
    assert main(["compare", str(real_runs.folder("a")), "gone"]) == 1
    assert capsys.readouterr() == ("", "zlbench: no identity: gone/run_identity.json does not exist\n")


def test_the_command_alone_prints_its_help_and_ends_as_argparse_does_with_2(capsys):
    assert main([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("usage: zlbench")
    assert "zlbench show results/cpu" in err


def test_a_variable_that_a_side_did_not_set_is_unset_and_one_that_nobody_looked_for_is_not_recorded(
    real_runs, capsys
):
    real_runs.add("mm", "a", 1, 20.0, "code", declared=[])
    variables = {"TRITON_F32_DEFAULT": "ieee", "MY_SWITCH": "1"}
    environment = real_runs.identity("a")["environment"] | {"variables": variables}
    real_runs.add("mm", "b", 1, 20.0, "other", declared=["env:MY_SWITCH"], environment=environment)
    assert main(["compare", str(real_runs.folder("a")), str(real_runs.folder("b"))]) == 4
    told = capsys.readouterr().err
    assert "environment.variables.TRITON_F32_DEFAULT: a=unset, b=ieee" in told
    assert "environment.variables.MY_SWITCH: a=not recorded, b=1" in told
    real_runs.write_identity("a", real_runs.identity("a") | {"declared": ["env:MY_SWITCH", "python"]})
    main(["compare", str(real_runs.folder("a")), str(real_runs.folder("b"))])
    assert "environment.variables.MY_SWITCH: a=unset, b=1" in capsys.readouterr().err
