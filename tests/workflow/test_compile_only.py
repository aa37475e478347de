"""Compile-only campaigns over a user's own pytest files: what each switch changes, without a device."""

from __future__ import annotations

import csv
import json

import pytest

from zlbench_core.campaign.schema_files import check
from zlbench_core.commands.cli import main
from zlbench_core.errors import ZlbenchError
from zlbench_core.records.identity import load_identity

from .conftest import REPOSITORY, Campaign

pytestmark = pytest.mark.timeout(1800)  # four campaigns in one fixture; a minute on an idle machine
OWN = REPOSITORY / "tests" / "data" / "own-kernels"
# The switch, and the first stage that it changes.
SWITCHES = {
    "TRITON_F32_DEFAULT=ieee": "ttir",
    "DISABLE_LLVM_OPT=1": "llir",
    "DISABLE_PTXAS_OPT=1": "cubin",
    "TRITON_DISABLE_LINE_INFO=1": None,
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """One working folder in which the switches follow each other, and what each campaign left."""
    folder, found = tmp_path_factory.mktemp("compile_only"), {}
    for place, (switch, _) in enumerate(SWITCHES.items()):
        name, _, value = switch.partition("=")
        sides = {"a": {}, "b": {"env": {name: value}}}
        ops = ["products"] if place else ["products", "vector-add"]
        campaign = Campaign(folder, ops=ops, suite_dirs=[str(OWN)], sides=sides, measure=False)
        outcome = campaign()
        assert outcome.code == 0, outcome.text[-3000:]
        gates = {op: json.loads(campaign.path(op, "ir_gate.json").read_text()) for op in ops}
        verdicts = json.loads(campaign.path("verdicts.json").read_text())["operators"]
        with campaign.path("code.csv").open(newline="") as stream:
            found[switch] = (outcome, gates, {line["op"]: line for line in csv.DictReader(stream)}, verdicts)
    return campaign, found


@pytest.mark.parametrize(("switch", "stage"), SWITCHES.items())
def test_each_switch_is_named_by_the_first_stage_that_it_changes(ran, switch, stage):
    _, found = ran
    outcome, gates, code, verdicts = found[switch]
    gate = gates["products"]
    check(gate, "ir_gate", switch, ZlbenchError)
    assert (gate["verdict"], gate["first_stage"]) == ("different" if stage else "identical", stage)
    assert gate["counts"]["compared"] == 4, "both configs of the tuner, for both kinds"
    finding = "code changed" if stage else "no code change"
    assert (code["products"]["finding"], code["products"]["first_stage"]) == (finding, stage or "")
    assert finding in outcome.out
    operator = next(line for line in verdicts if line["op"] == "products")
    assert operator["refusals"] == []
    assert operator["evidence"] is None
    if stage is None:
        assert operator["verdict"] == "NO CODE CHANGE"
        assert gate["only_locations"] == 4


def test_a_switch_of_the_assembler_changes_the_binary_alone(ran):
    _, found = ran
    for variant in found["DISABLE_PTXAS_OPT=1"][1]["products"]["variants"]:
        assert variant["differing"] == ["cubin"]
        assert variant["cost"]["change"]["instructions"] > 0


def test_the_table_tells_the_static_cost_of_the_change(ran):
    _, found = ran
    outcome, _, code, _ = found["TRITON_F32_DEFAULT=ieee"]
    line = code["products"]
    assert (line["variants"], line["changed"]) == ("4", "4")
    assert int(line["registers_max"]) > 0
    assert "registers" in outcome.out
    assert code["vector-add"]["finding"] == "no code change"


def test_every_launch_of_a_plain_test_is_compiled_though_its_assertions_would_fail(ran):
    """float16 and float32 by parametrize, int64 before and int8 after an assertion on what nobody computed."""
    campaign, found = ran
    gate = found["TRITON_F32_DEFAULT=ieee"][1]["vector-add"]
    types = {variant["config"]["signature"][0] for variant in gate["variants"]}
    assert types == {"x_ptr: *fp16", "x_ptr: *fp32", "x_ptr: *i64", "x_ptr: *i8"}
    assert load_identity(campaign.path("vector-add", "a", "r1"))["status"] == "complete"


def test_nothing_is_measured_and_no_device_is_held(ran):
    campaign, found = ran
    assert "publish_pins" not in found["TRITON_F32_DEFAULT=ieee"][0].jobs
    assert not campaign.path("products", "a", "r1", "samples.jsonl").exists()
    assert not (campaign.folder / "locks").exists()


def test_both_sides_ran_at_the_same_time(ran):
    campaign, _ = ran
    a, b = (load_identity(campaign.path("products", side, "r1")) for side in "ab")
    assert max(a["started"], b["started"]) < min(a["ended"], b["ended"])


def test_the_difference_can_be_read_afterwards(ran, capsys):
    campaign, _ = ran
    runs = [str(campaign.path("products", side, "r1")) for side in "ab"]
    assert main(["ir", "diff", *runs]) == 0
    assert main(["ir", "cost", runs[0]]) == 0
    assert "dot_kernel" in capsys.readouterr().out


PLAIN = """
import torch
import triton
import triton.language as tl


@triton.jit
def double_kernel(x, out, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets) * 2)


def test_plain():
    x = torch.arange(16.0)
    out = torch.empty_like(x)
    double_kernel[(1,)](x, out, BLOCK=16)
    assert torch.equal(out, x * 2)
"""


def test_a_plain_test_that_is_measured_is_no_success(campaign, tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "test_plain.py").write_text(PLAIN)
    one = campaign(
        ops=["plain"],
        suite_dirs=[str(tmp_path / "own")],
        sides={"a": {}, "b": None},
        rounds=1,
        autotune={"mode": "off"},
    )
    outcome = one()
    assert outcome.code == 0, outcome.text[-3000:]
    with one.path("ops_status.csv").open(newline="") as stream:
        [line] = csv.DictReader(stream)
    reason = "finished green without a row (results/cpu/plain/a/r1/run.log)"
    assert (line["status"], line["reason"]) == ("no_data", reason)
