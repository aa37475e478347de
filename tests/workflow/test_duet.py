"""One real campaign of protocol duet: an operator that is measured, but for a row that side a alone has, one that dies
on side b, one that fails there in a row."""

from __future__ import annotations

import csv
import json
import math
import statistics

import pytest
from jsonschema import Draft202012Validator

from zlbench_core.commands.identity_schema import identity_schema
from zlbench_core.records.identity import load_identity
from zlbench_core.records.superblock import Superblock, superblock_log_ratio
from zlbench_core.records.vouched import check_digests
from zlbench_core.run.duet.coins import Coins

from .conftest import Campaign, Outcome

HEAD = """
import os
import signal
import torch
import triton
import triton.language as tl
from zlbench_core.suite import base

IS_B = os.environ.get("DISABLE_LLVM_OPT") == "1"

class OwnBenchmark(base.Benchmark):
    DEFAULT_SHAPES = ((2, 8), (4, 8), (8, 8))

    def get_input_iter(self, dtype):
        for shape in self.shapes:
            yield (torch.randn(shape, dtype=dtype, device=self.device),)
"""
SCALE = """
@triton.jit
def scale_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 2.0, mask=mask)

def scale(x):
    out = torch.empty_like(x)
    scale_kernel[(1,)](x, out, x.numel(), 64)
    return out

class OneRowMoreOnA(OwnBenchmark):
    DEFAULT_SHAPES = OwnBenchmark.DEFAULT_SHAPES if IS_B else (*OwnBenchmark.DEFAULT_SHAPES, (4, 16))

def test_scale():
    OneRowMoreOnA(op_name="scale", torch_op=lambda x: x * 2.0, op=scale).run()
"""
DIES = """
calls = []

def dies(x):
    calls.append(x)
    if IS_B and len(calls) > 30:
        os.kill(os.getpid(), signal.SIGKILL)
    return x * 2.0

def test_dies():
    OwnBenchmark(op_name="dies", torch_op=lambda x: x * 2.0, op=dies).run()
"""
LOSES = """
def loses(x):
    return x * (3.0 if IS_B and x.shape[0] == 4 else 2.0)

def test_loses():
    OwnBenchmark(op_name="loses", torch_op=lambda x: x * 2.0, op=loses).run()
"""
DUET = {"superblocks": 3, "block_ms": 1, "discard": 4, "warm_up": 1, "seed": 5}


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> tuple[Campaign, Outcome]:
    folder = tmp_path_factory.mktemp("duet")
    own = folder / "own"
    own.mkdir()
    (folder / "tmp").mkdir()
    for name, code in (("scale", SCALE), ("dies", DIES), ("loses", LOSES)):
        (own / f"test_{name}.py").write_text(HEAD + code)
    campaign = Campaign(
        folder / "work",
        ops=["scale", "dies", "loses"],
        suite_dirs=[str(own)],
        sides={"a": {}, "b": {"env": {"DISABLE_LLVM_OPT": "1"}}},
        autotune={"mode": "off"},
        protocol="duet",
        duet=DUET,
    )
    return campaign, campaign(env={"TMPDIR": str(folder / "tmp")})


def lines(campaign: Campaign, op: str, side: str, number: int = 1) -> list[dict]:
    path = campaign.path(op, side, f"r{number}", "samples.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def operator(campaign: Campaign, op: str) -> dict:
    found = json.loads(campaign.path("verdicts.json").read_text())["operators"]
    return next(line for line in found if line["op"] == op)


def test_the_campaign_ends_well_and_judges_the_operator_that_both_sides_measured(ran):
    campaign, outcome = ran
    assert outcome.code == 0, outcome.text[-3000:]
    scale = operator(campaign, "scale")
    assert scale["refusals"] == []
    assert scale["evidence"]["rounds"] == 2
    assert len(scale["rows"]) == 3


def test_a_row_that_nobody_failed_in_is_left_out_by_name_and_the_others_are_judged(ran):
    campaign, _ = ran
    [lost] = load_identity(campaign.path("scale", "a", "r1"))["measurement"]["pair"]["lost_rows"]
    assert "[4, 16]" in lost
    assert "side b ended this test without the row" in lost
    assert load_identity(campaign.path("scale", "a", "r1"))["status"] == "complete"
    assert f"round 1: {lost}" in operator(campaign, "scale")["exclusions"]


def test_the_ratio_of_the_tables_is_the_round_that_the_verdicts_make_of_the_raw_samples(ran):
    campaign, _ = ran
    with campaign.path("ab.csv").open(newline="") as stream:
        ratios = [float(row["ratio"]) for row in csv.DictReader(stream) if row["round"] == "1"]
    sides = {"A": lines(campaign, "scale", "a"), "B": lines(campaign, "scale", "b")}
    assert len(ratios) == 3
    for row, ratio in enumerate(ratios):
        found = []
        for number, order in enumerate(sides["A"][row]["order"]):
            blocks = []
            for place, letter in enumerate(order):
                line = sides[letter][row]
                block = next(b for b in line["blocks"] if (b["superblock"], b["place"]) == (number, place))
                blocks.append(tuple(line["samples_ms"][block["first"] :][: block["count"]]))
            found.append(superblock_log_ratio(Superblock(order, tuple(blocks))))
        assert math.log(ratio) == pytest.approx(statistics.fmean(found), abs=1e-12)


def test_the_coins_are_the_seeds_and_say_who_was_launched_first(ran):
    campaign, _ = ran
    for number in (1, 2):
        coins = Coins(DUET["seed"], "scale", number)
        first = coins.first_side()
        orders = {side: load_identity(campaign.path("scale", side, f"r{number}"))["order"] for side in "ab"}
        assert orders == {first: 0, {"a": "b", "b": "a"}[first]: 1}
        for a, b in zip(
            lines(campaign, "scale", "a", number), lines(campaign, "scale", "b", number), strict=True
        ):
            assert a["row"] == b["row"]
            key, occurrence = a["row"]["key"], a["row"]["occurrence"]
            assert (
                a["order"]
                == b["order"]
                == [coins.order(key, occurrence, k) for k in range(DUET["superblocks"])]
            )


def test_the_identity_tells_the_protocol_and_what_the_device_was_spent_on(ran):
    campaign, _ = ran
    for side in "ab":
        run = campaign.path("scale", side, "r2")
        identity = load_identity(run)
        Draft202012Validator(identity_schema()).validate(identity)
        assert check_digests(run) == []
        measurement = identity["measurement"]
        assert measurement["protocol"] == "duet"
        assert measurement["duet"] == {**DUET, "block_ms": 1.0}
        assert all(measurement["pair"]["spent_ms"][part] > 0 for part in ("timed", "discarded", "warm_up"))
        assert identity["status"] == "complete"


def test_a_side_that_is_killed_in_a_row_fails_both_and_both_name_it(ran):
    campaign, _ = ran
    for side in "ab":
        identity = load_identity(campaign.path("dies", side, "r1"))
        assert identity["status"] == "failed"
        assert identity["failure"].startswith("duet: side b died at row dies torch.float32 ")
        assert "(crashed: signal SIGKILL" in identity["failure"]
        assert check_digests(campaign.path("dies", side, "r1")) == []
    assert operator(campaign, "dies")["verdict"] == "REFUSED"
    assert any("duet: side b died" in reason for reason in operator(campaign, "dies")["reasons"])


def test_a_row_that_one_side_lost_is_lost_for_both_and_the_next_ones_stay_aligned(ran):
    campaign, _ = ran
    a, b = lines(campaign, "loses", "a"), lines(campaign, "loses", "b")
    assert [line["row"] for line in a] == [line["row"] for line in b]
    assert ["[2, 8]" in a[0]["row"]["label"], "[8, 8]" in a[1]["row"]["label"]] == [True, True]
    for side in "ab":
        run = campaign.path("loses", side, "r1")
        (lost,) = load_identity(run)["measurement"]["pair"]["lost_rows"]
        assert "[4, 8]" in lost
        assert ": side b: WrongResult: wrong result of loses" in lost
        assert "BENCHMARK_ROW_LOST" in (run / "run.log").read_text()
    assert operator(campaign, "loses")["verdict"] == "REFUSED"


def test_no_socket_is_left(ran):
    campaign, _ = ran
    assert list(campaign.folder.parent.joinpath("tmp").glob("zl-*")) == []


def test_the_same_command_again_runs_nothing_and_another_seed_measures_again(ran):
    campaign, _ = ran
    assert campaign("-n").jobs == {}
    jobs = Campaign(campaign.folder, **{**campaign.config, "duet": {**DUET, "seed": 6}})("-n").jobs
    assert jobs["replay_round"] >= 3
    assert "check_side" not in jobs
