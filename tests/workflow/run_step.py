"""One step of a campaign in a process of its own: `python run_step.py STEP`, in the campaign's folder."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import yaml

from zlbench_core import plans
from zlbench_core.campaign import load_campaign
from zlbench_core.chain.gate import compare_ir, gate_device
from zlbench_core.chain.record import publish_pins
from zlbench_core.chain.replay import replay_round
from zlbench_core.chain.step import step
from zlbench_core.chain.summary import summarise
from zlbench_core.files import write_json
from zlbench_core.preflight import preflight

ROOT = Path("results/cpu")
ADD = ROOT / "add"
CAMPAIGN = load_campaign(yaml.safe_load(Path("campaign.yaml").read_text()))


def summary() -> None:
    campaign = plans.read_plan(plans.summary_plan(CAMPAIGN))
    runs = [ADD / side / f"r{number}" for number in range(1, campaign.rounds + 1) for side in "ab"]
    summarise(campaign, runs, [ADD / "ir_gate.json"], ROOT)


def replay() -> None:
    campaign = plans.read_plan(plans.round_plan(CAMPAIGN, "add"), time_limit=CAMPAIGN.time_limit)
    replay_round(campaign, "add", 1, 0, {side: ADD / side / "r1" for side in "ab"}, ADD / "pins")


STEPS = {
    "preflight": lambda: write_json(ROOT / "preflight" / "a.json", preflight(CAMPAIGN, CAMPAIGN.sides[0])),
    "pins": lambda: publish_pins(CAMPAIGN, "add", [ADD / "record" / "shard-0"], 0, ADD / "pins"),
    "replay": replay,
    "gate": lambda: compare_ir(
        CAMPAIGN, "add", {side: ADD / side / "r1" for side in "ab"}, ADD / "ir_gate.json"
    ),
    "device": lambda: gate_device([ADD / "ir_gate.json"], ROOT / "ir_gate" / "device-0.json"),
    "summary": summary,
}

if __name__ == "__main__":
    if len(sys.argv) > 2:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    with step(sys.argv[1], f"logs/cpu/{sys.argv[1]}.log"):
        STEPS[sys.argv[1]]()
