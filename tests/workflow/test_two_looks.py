"""A campaign that looks twice, on two devices, with a placebo: one real run that the tests below look at.

`slower` does an extra loop on side b, `wobbly` is slower on one side in odd rounds and on the other in even ones,
`still` compiles to the same code on both. At alpha 0.5 the looks for two operators are after 4 and 8 rounds.
"""

from __future__ import annotations

import json
import shutil
from itertools import pairwise

import pytest

from zlbench_core.campaign.schema_files import check
from zlbench_core.commands import verdict as verdict_command
from zlbench_core.common.files import write_json
from zlbench_core.judge.accept import require_accepted
from zlbench_core.results.store import read_rounds, read_samples_table

from .conftest import Campaign, Outcome

OPERATOR = """
import os
import re

import torch
import triton
import triton.language as tl

from zlbench_core.suite import base

ON_B = os.environ.get("TRITON_TEST_SIDE") == "b"
ROUND = int(re.search(r"r([0-9]+)$", os.environ["ZL_OUT_DIR"]).group(1))
LOOPS = {loops}
BIAS = {bias}


@triton.jit
def {op}_kernel(x_ptr, out_ptr, count, loops, BIAS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < count)
    for _ in range(loops):
        x = tl.minimum(x, x + 1.0)
    tl.store(out_ptr + offsets, x + BIAS, mask=offsets < count)


def {op}(x):
    out = torch.empty_like(x)
    {op}_kernel[(1,)](x, out, x.numel(), LOOPS, BIAS, 64)
    return out


class OwnBenchmark(base.Benchmark):
    DEFAULT_SHAPES = ((8, 8),)

    def get_input_iter(self, dtype):
        for shape in self.shapes:
            yield (torch.randn(shape, dtype=dtype, device=self.device),)


def test_{op}():
    OwnBenchmark(op_name="{op}", torch_op=lambda x: x + BIAS, op={op}).run()
"""
DIFFERENT_CODE = "1.0 if ON_B else 0.0"
OPS = {
    "slower": ("120 if ON_B else 20", DIFFERENT_CODE),
    "wobbly": ("120 if ON_B == bool(ROUND % 2) else 20", DIFFERENT_CODE),
    "still": ("20", "0.0"),
}
CONFIG = {
    "ops": list(OPS),
    "sides": {"a": {"env": {"TRITON_TEST_SIDE": "a"}}, "b": {"env": {"TRITON_TEST_SIDE": "b"}}},
    "autotune": {"mode": "off"},
    "devices": [0, 1],
    "warmup": 0,
    "iter": 1,
    "alpha": 0.5,
    "stopping": "two-looks",
    "placebo": {"ops": "identical", "rounds": 2},
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> tuple[Campaign, Outcome]:
    folder = tmp_path_factory.mktemp("two-looks")
    (folder / "own").mkdir()
    for op, (loops, bias) in OPS.items():
        text = OPERATOR.format(op=op, loops=loops, bias=bias)
        (folder / "own" / f"test_{op}.py").write_text(text)
    campaign = Campaign(folder / "work", **CONFIG, suite_dirs=[str(folder / "own")])
    return campaign, campaign(cores=4)


def rounds(campaign: Campaign, op: str) -> list[int]:
    return sorted(int(path.name[1:]) for path in campaign.path(op, "b").glob("r*"))


def operators(campaign: Campaign) -> dict:
    found = json.loads(campaign.path("verdicts.json").read_text())["operators"]
    return {operator["op"]: operator for operator in found}


def test_an_operator_stops_where_the_first_look_decides_and_another_goes_on(ran):
    campaign, outcome = ran
    assert outcome.code == 0, outcome.text[-3000:]
    assert rounds(campaign, "slower") == [1, 2, 3, 4]
    assert rounds(campaign, "wobbly") == list(range(1, 9))
    found = operators(campaign)
    assert found["slower"]["verdict"] == "SLOWER"
    assert found["wobbly"]["verdict"] in ("UNDECIDED", "SAME")


def test_no_device_is_used_by_two_benchmarks_at_once_whatever_the_cores(ran):
    """More cores than devices, and three operators: Snakemake itself keeps a device's jobs apart, and none waits."""
    campaign, outcome = ran
    spans: dict[str, list[tuple[str, str]]] = {}
    for path in campaign.path().glob("*/?/r*/run_identity.json"):
        identity = json.loads(path.read_text())
        spans.setdefault(identity["device_uuid"], []).append((identity["started"], identity["ended"]))
    assert set(spans) == {"cpu-0", "cpu-1"}
    for mine in map(sorted, spans.values()):
        assert all(before[1] <= after[0] for before, after in pairwise(mine))
    assert "DEVICE_BUSY" not in outcome.text


def test_the_looks_are_those_of_the_family_that_changed(ran):
    campaign, _ = ran
    looks = operators(campaign)["slower"]["looks"]
    assert looks == {"alpha": 0.5, "level": 0.25, "first": 4, "last": 8}
    assert operators(campaign)["slower"]["adjusted_p"] == 2 * 2 / 2**4


def test_a_placebo_gets_its_rounds_and_shows_no_number(ran):
    campaign, _ = ran
    assert rounds(campaign, "still") == [1, 2]
    still = operators(campaign)["still"]
    assert (still["verdict"], still["evidence"]) == ("NO CODE CHANGE", None)
    assert still["placebo"]["evidence"]["rounds"] == 2
    assert "still" not in campaign.path("ab.csv").read_text()


def test_the_same_command_again_runs_nothing_and_another_alpha_measures_nothing(ran):
    campaign, _ = ran
    again = campaign()
    assert (again.code, again.jobs) == (0, {}), again.text[-2000:]
    jobs = campaign("-n", "--config", "policy=survey").jobs
    assert jobs == {"first_look": 2, "summarise": 1, "report": 1, "all": 1}


def test_every_raw_sample_is_in_the_store(ran):
    campaign, _ = ran
    lines = read_samples_table(campaign.path("samples.parquet"))
    path = campaign.path("wobbly", "b", "r3", "samples.jsonl")
    raw = [json.loads(line) for line in path.read_text().splitlines()]
    mine = [line for line in lines if (line["op"], line["side"], line["round"]) == ("wobbly", "b", 3)]
    assert [line["samples_ms"] for line in mine] == [call["samples_ms"] for call in raw]
    assert [line["value_ms"] for line in mine] == [call["value_ms"] for call in raw]
    assert {line["role"] for line in mine} == {"latency"}
    assert {line["size"] for line in mine} == {"[[8, 8]]"}


def test_the_verdicts_follow_from_the_stored_rounds_alone(ran, tmp_path, capsys):
    campaign, _ = ran
    for name in ("verdicts.json", "rounds.parquet"):
        shutil.copy(campaign.path(name), tmp_path / name)
    assert recompute(tmp_path) == 0
    assert capsys.readouterr().out == "verdicts recomputed: 3 equal\n"
    found = json.loads((tmp_path / "verdicts.json").read_text())
    check(found, "verdicts", "verdicts.json", AssertionError)
    found["operators"][0]["evidence"]["ratio"] *= 1 + 2**-52
    write_json(tmp_path / "verdicts.json", found)
    assert recompute(tmp_path) == 1
    assert "slower.evidence.ratio" in capsys.readouterr().out


def test_the_round_list_follows_from_what_is_stored(ran):
    campaign, _ = ran
    looked = {}
    for slot in (0, 1):
        looked |= json.loads(campaign.path("first_look", f"device-{slot}.json").read_text())["rounds"]
    assert looked == {"slower": 4, "wobbly": 8, "still": 2}
    stored = read_rounds(campaign.path("rounds.parquet"))
    assert {op.op: len(op.rows[0].rounds) for op in stored.operators} == looked


def test_a_campaign_without_a_refusal_is_accepted(ran):
    campaign, _ = ran
    require_accepted(campaign.path("verdicts.json"))


def recompute(folder) -> int:
    from argparse import Namespace

    return verdict_command.run(Namespace(folder=folder, json=False))
