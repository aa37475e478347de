"""One step of a played campaign, in the working folder: run here, or in a child that may be killed."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path

import yaml

from zlbench_core.campaign.load import load_campaign
from zlbench_core.campaign.model import Campaign
from zlbench_core.campaign.plan_text import read_plan
from zlbench_core.common.files import write_json
from zlbench_core.common.sealing import carry
from zlbench_core.common.step import step
from zlbench_core.judge.gate import compare_ir, gate_device
from zlbench_core.judge.shapes import write_shapes
from zlbench_core.judge.status import failure_causes
from zlbench_core.judge.summary import summarise
from zlbench_core.run import plans
from zlbench_core.run.preflight import preflight
from zlbench_core.run.record import publish_pins
from zlbench_core.run.replay import replay_round

ROOT = Path("results/cpu")
ADD = ROOT / "add"
RUNS = {side: ADD / side / "r1" for side in "ab"}


def run_step(name: str) -> None:
    campaign = load_campaign(yaml.safe_load(Path("campaign.yaml").read_text()))
    for side in campaign.subject.sides:
        carry(side.env)
    with step(name, f"logs/cpu/{name}.log"):
        STEPS[name](campaign)


def run_in_child(name: str, before: Callable[[], None]) -> int:
    """The exit status of a child that does `before` and then the step; negative for the signal that ended it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            before()
            run_step(name)
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def die_before_renaming(name: str) -> Callable[[], None]:
    """Kill the process between the writing of a file, or folder, that ends with `name` and its renaming."""

    def arm() -> None:
        replace = os.replace

        def replacing(source: object, target: object) -> None:
            if str(target).endswith(name):
                os.kill(os.getpid(), signal.SIGKILL)
            replace(source, target)  # type: ignore[type-var]

        os.replace = replacing  # type: ignore[assignment]

    return arm


def limit_file_sizes(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def _preflight(campaign: Campaign) -> None:
    write_json(ROOT / "preflight" / "a.json", preflight(campaign.check_of("a")))


def _pins(campaign: Campaign) -> None:
    shards = [ADD / "record" / "shard-0"]
    publish_pins(campaign.record_of("add"), "add", shards, 0, ADD / "pins", failure_causes, 3600)


def _replay(campaign: Campaign) -> None:
    replay_round(campaign.round_of("add"), "add", 1, 0, RUNS, ADD / "pins", 3600)
    for run_dir in RUNS.values():
        write_shapes(run_dir)


def _gate(campaign: Campaign) -> None:
    compare_ir(campaign.round_of("add"), "add", RUNS, ADD / "ir_gate.json")


def _device(campaign: Campaign) -> None:
    gate_device([ADD / "ir_gate.json"], ROOT / "ir_gate" / "device-0.json")


def _summary(campaign: Campaign) -> None:
    scoped = read_plan(plans.summary_plan(campaign), Campaign)
    runs = [ADD / side / f"r{number}" for number in range(1, scoped.judgement.rounds + 1) for side in "ab"]
    summarise(scoped, runs, [ADD / "ir_gate.json"], ROOT)


STEPS = {
    "preflight": _preflight,
    "pins": _pins,
    "replay": _replay,
    "gate": _gate,
    "device": _device,
    "summary": _summary,
}
