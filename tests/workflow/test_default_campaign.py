"""The embedded default campaign, small: one real run that the tests below look at, and what a rerun does."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from zlbench_core.campaign.load import default_config
from zlbench_core.campaign.schema_files import check
from zlbench_core.commands.identity_schema import identity_schema
from zlbench_core.errors import ZlbenchError
from zlbench_core.records.identity import load_identity
from zlbench_core.records.vouched import check_digests

from .conftest import QUICK, REPOSITORY, SNAKEFILE, Campaign, Outcome

SIDES = default_config()["sides"]


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> tuple[Campaign, Outcome]:
    campaign = Campaign(tmp_path_factory.mktemp("default"), ops=["mm", "softmax"], sides=SIDES, **QUICK)
    return campaign, campaign()


def table(campaign: Campaign, name: str) -> list[dict[str, str]]:
    with campaign.path(name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_it_ends_well_and_prints_a_verdict_per_operator(ran):
    campaign, outcome = ran
    assert outcome.code == 0, outcome.text[-3000:]
    verdicts = {
        line["op"]: line for line in json.loads(campaign.path("verdicts.json").read_text())["operators"]
    }
    assert verdicts["softmax"]["verdict"] == "NO CODE CHANGE"
    assert verdicts["mm"]["verdict"] in ("UNDECIDED", "SAME")
    assert "NO CODE CHANGE" in outcome.out
    assert "cpu-interpreter/cuda:90" in outcome.out


def test_the_gate_tells_the_two_operators_apart(ran):
    campaign, _ = ran
    mm = json.loads(campaign.path("mm", "ir_gate.json").read_text())
    softmax = json.loads(campaign.path("softmax", "ir_gate.json").read_text())
    assert (mm["verdict"], mm["first_stage"]) == ("different", "ttir")
    assert (softmax["verdict"], softmax["marker"]) == ("identical", "SWITCH_NO_IR_DIFF")


def test_only_the_operator_that_changed_gets_more_rounds(ran):
    campaign, _ = ran
    assert campaign.path("mm", "b", "r2", "run_identity.json").is_file()
    assert not campaign.path("softmax", "b", "r2").exists()


def test_every_run_vouches_for_its_files(ran):
    campaign, _ = ran
    runs = [path.parent for path in campaign.path().rglob("run_identity.json")]
    assert len(runs) == 2 + 2 * 2 + 2
    for run in runs:
        identity = load_identity(run)
        assert identity["status"] == "complete", identity
        assert {"run.log", "result.json", "header.json"} <= set(identity["digests"])
        assert check_digests(run) == []


@pytest.mark.parametrize(
    ("schema", "pattern", "count"),
    [
        ("pins_meta", "*/pins/meta.json", 2),
        ("ir_gate", "*/ir_gate.json", 2),
        ("verdicts", "verdicts.json", 1),
        ("receipt", "receipt.json", 1),
        ("preflight", "preflight/?.json", 2),
        ("header", "*/*/r?/header.json", 6),
        ("records", "*/record/*/records.json", 2),
        ("pins", "*/pins/pins.json", 2),
        ("gate_device", "ir_gate/device-*.json", 1),
        ("plans", "plans.json", 1),
        ("ir_index", "*/*/r?/ir/index.json", 6),
    ],
)
def test_every_json_of_the_chain_fits_its_schema(ran, schema, pattern, count):
    campaign, _ = ran
    found = list(campaign.path().glob(pattern))
    assert len(found) == count
    for path in found:
        check(json.loads(path.read_text()), schema, str(path), ZlbenchError)


@pytest.mark.parametrize(("pattern", "count"), [("*/*/r?", 6), ("*/record/*", 2)])
def test_every_identity_of_the_chain_fits_the_schema_of_its_class(ran, pattern, count):
    campaign, _ = ran
    found = list(campaign.path().glob(f"{pattern}/run_identity.json"))
    assert len(found) == count
    for path in found:
        Draft202012Validator(identity_schema()).validate(json.loads(path.read_text()))


def test_both_sides_replay_the_pins_of_one_record(ran):
    campaign, _ = ran
    pins = json.loads(campaign.path("mm", "pins", "pins.json").read_text())
    assert len(pins["entries"]) >= 1
    for side in "ab":
        replay = load_identity(campaign.path("mm", side, "r1"))["replay"]
        assert replay["fallbacks"] == {}
        assert replay["hits"] >= 1
        assert replay["launches"] >= replay["hits"]


def test_an_identity_holds_what_was_read_back(ran):
    campaign, _ = ran
    identity = load_identity(campaign.path("mm", "b", "r1"))
    assert identity["backend"] == "cpu"
    assert identity["device"] == "cpu-interpreter/cuda:90"
    assert identity["timer"] == "direct"
    assert identity["tuner_cache"] == "isolated"
    assert identity["environment"]["variables"]["TRITON_F32_DEFAULT"] == "ieee"
    assert identity["environment"]["triton"].startswith("3.")


def test_the_order_of_the_sides_is_a_b_b_a(ran):
    campaign, _ = ran
    started = [
        load_identity(campaign.path("mm", side, number))["started"]
        for number, side in (("r1", "a"), ("r1", "b"), ("r2", "b"), ("r2", "a"))
    ]
    assert started == sorted(started)


def test_the_tables_hold_numbers_only_where_there_is_a_comparison(ran):
    campaign, _ = ran
    assert {line["op"] for line in table(campaign, "ab.csv")} == {"mm"}
    statuses = table(campaign, "ops_status.csv")
    assert [(line["op"], line["side"], line["status"]) for line in statuses] == [
        ("mm", "a", "ok"),
        ("mm", "b", "ok"),
        ("softmax", "a", "ok"),
        ("softmax", "b", "ok"),
    ]
    assert {line["device"] for line in table(campaign, "summary.csv")} == {"cpu-interpreter/cuda:90"}


def test_the_receipt_names_every_identity_and_the_harness(ran):
    campaign, _ = ran
    receipt = json.loads(campaign.path("receipt.json").read_text())
    assert len(receipt["identities"]) == 6
    assert "zlbench_core/run/runner.py" in receipt["harness"]
    assert receipt["declared_axis"] == ["env:SILU_BLOCK", "env:TRITON_F32_DEFAULT"]


def test_the_first_run_did_every_step(ran):
    _, outcome = ran
    assert outcome.jobs == {
        "check_side": 2,
        "record_shard": 2,
        "publish_pins": 2,
        "replay_round": 2,
        "compare_ir": 2,
        "gate_device": 1,
        "summarise": 1,
        "report": 1,
        "all": 1,
    }


def test_the_console_is_a_line_a_step_and_snakemakes_log_holds_the_rest(ran):
    _, outcome = ran
    noise = [line for line in outcome.err.splitlines() if not line.startswith(("zlbench: ", "["))]
    assert len(noise) <= 1, noise  # the profile, told before any setting is read
    steps = re.findall(r"^\[ *(\d+)/ *(\d+)\] (.+) \(.*\d s\)$", outcome.err, re.MULTILINE)
    assert [int(number) for number, _, _ in steps] == list(range(1, 15))
    assert steps[-1][1:] == ("14", "Write the report of cpu")
    assert "Round 2 of mm, side by side" in {text for _, _, text in steps}
    assert "\033" not in outcome.text
    for words in (
        "SNAKEMAKE",
        "Building DAG of jobs",
        "Reason: Missing output files",
        "Finished jobid",
        "15 of 15 steps",
    ):
        assert words in outcome.log


def test_the_same_command_again_runs_nothing_though_every_script_was_touched(ran):
    campaign, _ = ran
    for script in (REPOSITORY / "workflow" / "scripts").glob("*.py"):
        os.utime(script)
    again = campaign()
    assert again.code == 0
    assert again.jobs == {}
    assert "Nothing to be done" in again.err.splitlines()[-1]
    assert len(again.err.splitlines()) <= 3


def test_one_operator_of_it_afterwards_measures_nothing_again(ran):
    campaign, _ = ran
    again = campaign("-n", "--config", "ops=[softmax]")
    assert set(again.jobs) <= {"gate_device", "summarise", "report", "all"}


def test_another_env_of_one_side_leaves_the_record_of_the_other(ran):
    campaign, _ = ran
    sides = {"a": {"env": {}}, "b": {"env": {"TRITON_F32_DEFAULT": "tf32x3"}}}
    jobs = Campaign(campaign.folder, **{**campaign.config, "sides": sides})("-n").jobs
    assert jobs["replay_round"] >= 2
    assert "summarise" in jobs
    assert "record_shard" not in jobs
    assert "publish_pins" not in jobs


def test_more_rounds_add_the_new_ones_only(ran):
    campaign, _ = ran
    more = Campaign(campaign.folder, **{**campaign.config, "rounds": 3})("-n")
    assert more.jobs == {"replay_round": 1, "summarise": 1, "report": 1, "all": 1}
    assert more.out.startswith("zlbench: report, summarise again, since rounds: 2 -> 3\nwould run: ")
    assert "would run: Round 3 of mm, side by side (Missing output files: " in more.out
    assert max(map(len, more.out.splitlines())) < 250


def test_statistics_measure_nothing_again(ran):
    campaign, _ = ran
    outcome = campaign("-n", "--verbose", "--config", "alpha=0.01")
    assert outcome.jobs == {"summarise": 1, "report": 1, "all": 1}
    assert "Params have changed since last execution" in outcome.out, "--verbose: as Snakemake prints it"


def test_the_report_is_of_this_campaign(ran):
    campaign, _ = ran
    page = campaign.path("report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "STALE" not in page
    assert "env:TRITON_F32_DEFAULT" not in page, "sides are told by their values"
    assert "TRITON_F32_DEFAULT=ieee" in page
    assert "**NO CODE CHANGE**" in campaign.path("summary.md").read_text()
    for name in ("ops_status", "summary", "ab"):
        assert campaign.path(f"{name}.parquet").read_bytes().startswith(b"PAR1")


def test_a_report_that_is_gone_is_made_again_and_nothing_else(ran):
    campaign, _ = ran
    page = campaign.path("report.html")
    kept = page.read_bytes()
    page.unlink()
    again = campaign()
    assert again.jobs == {"report": 1, "all": 1}
    assert page.read_bytes() == kept


def test_snakemakes_own_report_holds_page_and_tables_with_captions(ran):
    """With no way out to a network: every proxy leads nowhere."""
    campaign, _ = ran
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    done = campaign("--report", str(campaign.folder / "report.zip"), env=nowhere)
    assert done.code == 0, done.text[-3000:]
    with zipfile.ZipFile(campaign.folder / "report.zip") as archive:
        names = {Path(name).name for name in archive.namelist()}
        text = b"".join(archive.read(name) for name in archive.namelist() if name.endswith((".js", ".html")))
    assert {"report.html", "summary.md", "verdicts.json", "summary.csv", "ops_status.csv", "ab.csv"} <= names
    assert b"medians over the rounds" in text
    assert b"verdicts with their grounds" in text


def test_require_accepted_passes_without_a_refusal(ran):
    campaign, _ = ran
    assert campaign("require_accepted").code == 0


def test_silu_is_other_code_under_the_variable_of_the_default_campaign(tmp_path):
    campaign = Campaign(tmp_path, ops=["silu"], sides=SIDES, measure=False, autotune={"mode": "off"})
    assert campaign().code == 0
    gate = json.loads(campaign.path("silu", "ir_gate.json").read_text())
    assert gate["verdict"] == "different"


def test_single_keys_of_the_default_campaign_plan_one_for_a_device(tmp_path):
    """As the README of config/ has it, up to the preflight of a device that is not there."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(SNAKEFILE), "--directory", str(tmp_path)]
    command += ["-n", "--cores", "2", "--config", "backend=musa", "ops=[mm]"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert Outcome(0, done.stdout, done.stderr, "").jobs["check_side"] == 2


def test_another_device_is_another_measurement(ran):
    campaign, _ = ran
    jobs = campaign("-n", "--config", "devices=[1]").jobs
    assert jobs["check_side"] == 2
    assert jobs["replay_round"] >= 2
