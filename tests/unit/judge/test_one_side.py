"""Campaigns of one side, runs that exist, and what of them is printed."""

from __future__ import annotations

import csv
import json

import pytest

from zlbench_core.commands.cli import main
from zlbench_core.errors import CaliberMismatch, ConfigError
from zlbench_core.judge.accept import require_accepted
from zlbench_core.judge.compare import compare_runs
from zlbench_core.judge.show import show_campaign
from zlbench_core.judge.summary import summarise
from zlbench_core.report.markdown import markdown
from zlbench_core.report.source import read_results

ONE_SIDE = {"sides": {"a": {}, "b": None}, "rounds": 2}


def table(real_runs, name="summary.csv"):
    with (real_runs.root / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def one_sided(real_runs, make_campaign):
    """Two rounds of side a alone; the second with `changes` to its identity."""

    def make(released=False, **changes):
        real_runs.add("mm", "a", 1, 20.0, "code", declared=[])
        real_runs.add("mm", "a", 2, 22.0, "code", **{"declared": [], **changes})
        campaign = make_campaign(**ONE_SIDE, allow_caliber_mismatch=released)
        summarise(campaign, real_runs.folders(), [], real_runs.root)
        return json.loads((real_runs.root / "verdicts.json").read_text())

    return make


def test_rounds_on_one_caliber_give_a_median(one_sided, real_runs):
    assert one_sided()["operators"] == []
    assert [line["latency_a_ms"] for line in table(real_runs)] == ["21.0"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"timer": "cuda_graph"}, "timer"),
        ({"harness": "another"}, "harness"),
        ({"plan": "another"}, "plan"),
        ({"started": "mm a 1"}, "started"),
    ],
)
def test_rounds_on_two_calibers_are_refused_by_name(one_sided, real_runs, changes, field):
    [operator] = one_sided(**changes)["operators"]
    assert operator["verdict"] == "REFUSED"
    assert operator["reasons"][0].startswith(f"{field}:")
    assert table(real_runs) == []
    assert [line["status"] for line in table(real_runs, "ops_status.csv")] == ["ok"]
    assert f"!!! [caliber] mm: {field}" in show_campaign(real_runs.root)
    with pytest.raises(CaliberMismatch):
        require_accepted(real_runs.root / "verdicts.json")


def test_rounds_on_two_devices_of_one_model_are_a_hazard_that_is_named(one_sided, real_runs):
    [operator] = one_sided(device_uuid="cpu-1")["operators"]
    assert operator["verdict"] == "UNDECIDED"
    [hazard] = [line for line in operator["hazards"] if line.startswith("device_uuid")]
    assert hazard == "device_uuid: the rounds ran on 2 devices of one model: cpu-0, cpu-1"


def test_other_code_in_a_later_round_is_refused(real_runs, make_campaign):
    real_runs.add("mm", "a", 1, 20.0, "code", declared=[])
    real_runs.add("mm", "a", 2, 20.0, "other", declared=[])
    summarise(make_campaign(**ONE_SIDE), real_runs.folders(), [], real_runs.root)
    [operator] = json.loads((real_runs.root / "verdicts.json").read_text())["operators"]
    assert operator["reasons"] == ["ir: a r2 ran other code than a r1 (ttir)"]


def test_a_kernel_that_a_later_round_compiled_for_other_arguments_is_named(real_runs, make_campaign):
    fill = {"kernel": "fill_kernel"}
    divisible = {**fill, "attributes": {"0": [["tt.divisibility", 16]]}}
    real_runs.add("mm", "a", 1, 20.0, "code", (fill,), declared=[])
    real_runs.add("mm", "a", 2, 20.0, "code", (divisible,), declared=[])
    summarise(make_campaign(**ONE_SIDE), real_runs.folders(), [], real_runs.root)
    [operator] = json.loads((real_runs.root / "verdicts.json").read_text())["operators"]
    told = "fill_kernel compiled for other arguments: a variant that one of them has, the other has not"
    assert operator["reasons"] == [f"ir: a r2 ran other code than a r1 ({told})"]


def test_a_released_mismatch_marks_the_median(one_sided, real_runs):
    [operator] = one_sided(released=True, timer="cuda_graph")["operators"]
    assert (operator["verdict"], operator["note"]) == ("UNDECIDED", "CALIBER MISMATCH RELEASED")
    [line] = table(real_runs)
    assert line["note"].startswith("CALIBER MISMATCH RELEASED: timer:")


def test_the_speedup_over_torch_is_printed_where_the_suite_wrote_it(one_sided, real_runs):
    one_sided()
    lines = table(real_runs)
    assert lines[0]["speedup"] == ""
    assert " speedup " not in show_campaign(real_runs.root)
    path = real_runs.root / "summary.csv"
    fields = list(lines[0])
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, fields)
        writer.writeheader()
        writer.writerows([{**lines[0], "speedup": "0.5"}, {**lines[0], "speedup": "8"}])
    shown = show_campaign(real_runs.root)
    assert " speedup " in shown
    assert next(line for line in shown.splitlines() if line.startswith("mm ")).split()[3] == "2"


def test_a_compile_only_verdict_says_first_that_the_code_differs(real_runs, make_campaign):
    for side in "ab":
        real_runs.add("mm", side, 1, 20.0, side)
    summarise(make_campaign(measure=False), real_runs.folders(), [real_runs.gate("mm")], real_runs.root)
    [operator] = json.loads((real_runs.root / "verdicts.json").read_text())["operators"]
    assert (operator["verdict"], operator["detail"]) == (
        "UNDECIDED",
        "code differs from ttir on; not measured",
    )
    line = next(line for line in show_campaign(real_runs.root).splitlines() if line.startswith("mm "))
    assert line.split(maxsplit=2)[2] == "code differs from ttir on; not measured"


def test_a_compile_only_campaign_is_told_in_words_of_code_alone(real_runs, make_campaign):
    """Its rows have no latency, since none was asked of them."""
    for side in "ab":
        real_runs.add("mm", side, 1, None, side)
    campaign = make_campaign(measure=False)
    summarise(campaign, real_runs.folders(), [real_runs.gate("mm")], real_runs.root)
    shown = show_campaign(real_runs.root).splitlines()
    assert shown[1] == "compiled on cpu-interpreter/cuda:90; nothing was timed"
    assert "a against b, which differ in env:TRITON_F32_DEFAULT" in shown
    assert "latency" not in "".join(shown)
    text = markdown(read_results(real_runs.root))
    assert "| mm | **UNDECIDED** | code differs from ttir on; not measured |" in text
    assert "left out" not in text
    assert "latency" not in text
    [operator] = json.loads((real_runs.root / "verdicts.json").read_text())["operators"]
    assert operator["exclusions"] == []


def test_runs_of_one_sided_campaigns_are_compared_on_the_axis_that_is_named(real_runs, capsys):
    real_runs.add("mm", "a", 1, 20.0, "code", declared=[])
    environment = real_runs.identity("a")["environment"] | {"variables": {"DISABLE_LLVM_OPT": "1"}}
    real_runs.add("mm", "a", 2, 21.0, "other", declared=[], environment=environment)
    a, b = (str(real_runs.folder("a", number)) for number in (1, 2))
    assert main(["compare", a, b]) == 4
    assert "environment.variables.DISABLE_LLVM_OPT: a=unset, b=1" in capsys.readouterr().err
    assert main(["compare", "--axis", "env:DISABLE_LLVM_OPT", "--json", a, b]) == 0
    [row] = json.loads(capsys.readouterr().out)["rows"]
    assert row["ratio"] == pytest.approx(1.05)
    with pytest.raises(ConfigError, match="axis is 'llvm'"):
        compare_runs(real_runs.folder("a", 1), real_runs.folder("a", 2), axis=["llvm"])


def test_two_rounds_of_one_side_are_a_look_at_noise_and_say_so(real_runs):
    for number in (1, 2):
        real_runs.add("mm", "b", number, 20.0 + number, "code")
    found = compare_runs(real_runs.folder("b", 1), real_runs.folder("b", 2))
    assert found.complaints == ()
    assert found.hazards == ("ir: both runs ran the same generated code, so every ratio below is noise",)


def test_sides_that_were_to_differ_and_ran_alike_are_refused(real_runs):
    real_runs.add("mm", "a", 1, 20.0, "code")
    variables = real_runs.identity("a")["environment"]["variables"]
    assert variables == {}
    environment = real_runs.identity("a")["environment"]
    real_runs.add("mm", "b", 1, 20.0, "other", environment=environment)
    found = compare_runs(real_runs.folder("a"), real_runs.folder("b"))
    expected = "declared: the sides were to differ in env:TRITON_F32_DEFAULT, and ran alike in all of it"
    assert (found.complaints, found.rows) == ((expected,), ())


def test_the_two_runs_of_a_duet_are_compared_and_held_to_one_caliber(real_runs, capsys):
    for side, spent in (("a", 20.0), ("b", 21.0)):
        real_runs.add("mm", side, 1, spent, side)
        identity = real_runs.identity(side)
        identity["measurement"]["pair"] = {
            "spent_ms": {"timed": spent},
            "void_superblocks": 0,
            "lost_rows": [],
        }
        real_runs.write_identity(side, identity)
    a, b = (str(real_runs.folder(side)) for side in "ab")
    assert main(["compare", "--json", a, b]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 1
    real_runs.write_identity("b", real_runs.identity("b") | {"timer": "cuda_graph"})
    assert main(["compare", "--json", a, b]) == 4
    found = json.loads(capsys.readouterr().out)
    assert (found["rows"], found["complaints"]) == ([], ["timer: a=direct, b=cuda_graph"])


def test_a_record_and_a_replay_are_told_apart_first_and_what_follows_from_that_is_not_told(real_runs, capsys):
    tuned = {"autotune_mode": "record", "declared": [], "replay": None, "tuning": {"workers": 2}}
    real_runs.add("mm", "a", 1, 20.0, "code", **tuned, timer="cuda_graph")
    real_runs.add("mm", "b", 1, 20.0, "other")
    assert main(["compare", str(real_runs.folder("a")), str(real_runs.folder("b"))]) == 4
    assert capsys.readouterr().err.splitlines() == [
        "!!! [caliber] autotune_mode: a ran as a record, which looks for winners; "
        "b ran as a replay, which runs pinned winners; compare two replays of one record",
        "!!! [caliber] timer: a=cuda_graph, b=direct",
    ]


def test_a_stage_that_was_changed_is_refused_though_its_archive_names_what_the_first_one_does(
    real_runs, make_campaign
):
    for number in (1, 2, 3):
        real_runs.add("mm", "a", number, 20.0, "code", declared=[])
    [stage] = (real_runs.folder("a", 3) / "ir").rglob("ttgir")
    stage.write_text("other")
    summarise(make_campaign(**ONE_SIDE), real_runs.folders(), [], real_runs.root)
    [operator] = json.loads((real_runs.root / "verdicts.json").read_text())["operators"]
    assert operator["reasons"] == [
        f"ir: a r3 ran other code than a r1 (stage {stage} was changed after it was archived)"
    ]
