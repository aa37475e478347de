"""A finished campaign of hundreds of operators: one real run on the cpu backend, copied under other names.

One operator is really measured, by the real workflow, over `rows` rows: 15 are five shapes of three data
types, as level core has them. Each other operator is a copy of its runs with another name, its own start times,
the plan's digest of this campaign and fresh digests of the files that it vouches for, so that every guard
accepts it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import yaml

from zlbench_core.campaign.load import load_campaign
from zlbench_core.campaign.model import Campaign
from zlbench_core.common.files import sha256_of
from zlbench_core.run.plans import round_digest

ROOT = Path(__file__).parents[1]
TEMPLATE = "op0000"
MEASURED_ROUNDS = 2  # A B and B A; further rounds repeat them
OPERATOR = """
import pytest
import torch
from zlbench_core.suite import base
from zlbench_core.suite.kernels.add import add


@pytest.mark.{op}
def test_{op}():
    base.PointwiseBenchmark(op_name="{op}", torch_op=torch.add, op=add).run()
"""


@dataclass(frozen=True)
class Scale:
    """A campaign of `ops` operators of `rows` rows, two sides and `rounds` rounds, in `folder`."""

    folder: Path
    ops: int
    rounds: int
    rows: int

    @property
    def names(self) -> list[str]:
        return [f"op{number:04}" for number in range(self.ops)]

    @property
    def results(self) -> Path:
        return self.folder / "results" / "cpu"

    def config(self, ops: list[str], rounds: int) -> dict[str, object]:
        return {
            "backend": "cpu",
            "provider": "builtin",
            "suite_dirs": [str(self.folder / "suite")],
            "ops": ops,
            "shape_file": str(self.folder / "shapes.yaml"),
            "dtypes": ["float32"],
            "warmup": 1,
            "iter": 1,
            "rounds": rounds,
            "sides": {"a": {}, "b": {"env": {"DISABLE_LLVM_OPT": "1"}}},
        }

    def command(self, *args: str, name: str = "campaign") -> list[str]:
        """The Snakemake call of this campaign, or of the template's alone."""
        call = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "workflow" / "Snakefile")]
        call += ["--directory", str(self.folder), "--cores", "2", *args]
        return [*call, "--configfile", str(self.folder / f"{name}.yaml")]

    def environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(ROOT), "ZL_LOCK_DIR": str(self.folder / "locks")}


def write_sources(scale: Scale) -> None:
    """The operators' files, the shapes and the two campaign files."""
    suite = scale.folder / "suite"
    suite.mkdir(parents=True)
    for op in scale.names:
        (suite / f"test_{op}.py").write_text(OPERATOR.format(op=op))
    (scale.folder / "shapes.yaml").write_text(
        yaml.safe_dump(
            {op: {"shapes": [[row, 16] for row in range(1, scale.rows + 1)]} for op in scale.names}
        )
    )
    (scale.folder / "campaign.yaml").write_text(yaml.safe_dump(scale.config(scale.names, scale.rounds)))
    (scale.folder / "template.yaml").write_text(yaml.safe_dump(scale.config([TEMPLATE], MEASURED_ROUNDS)))


def finish(scale: Scale) -> None:
    """Measure the template and copy it: afterwards the campaign lacks nothing, and Snakemake knows so."""
    _run(scale, scale.command(name="template"))
    campaign = load_campaign(yaml.safe_load((scale.folder / "campaign.yaml").read_text()))
    runs = [_copy_operator(scale, campaign, op) for op in reversed(scale.names)]
    gates = dict.fromkeys(scale.names, "different")
    (scale.results / "ir_gate" / "device-0.json").write_text(json.dumps(gates))
    # --touch writes the provenance that a real run would have left: what a no-op rerun has to compare.
    _run(scale, scale.command("--touch"))
    print(f"{sum(map(len, runs))} run folders of {scale.ops} operators", flush=True)


def run_folders(scale: Scale) -> list[Path]:
    return [
        scale.results / op / side / f"r{number}"
        for op in scale.names
        for side in "ab"
        for number in range(1, scale.rounds + 1)
    ]


def _run(scale: Scale, command: list[str]) -> None:
    done = subprocess.run(
        command, env=scale.environment(), cwd=scale.folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stdout[-2000:] + done.stderr[-2000:])


def _copy_operator(scale: Scale, campaign: Campaign, op: str) -> list[Path]:
    """The template under the name `op`, with all rounds. The template itself is the last to be changed."""
    source, target = scale.results / TEMPLATE, scale.results / op
    if op != TEMPLATE:
        for name in ("pins", "record"):
            shutil.copytree(source / name, target / name)
            _rename(target / name, op)
    folders = []
    for side in "ab":
        for number in range(1, scale.rounds + 1):
            measured = source / side / f"r{1 + (number - 1) % MEASURED_ROUNDS}"
            folder = target / side / f"r{number}"
            if folder != measured:
                shutil.copytree(measured, folder)
            folders.append(folder)
    for place, folder in enumerate(folders):
        _rename(folder, op)
        _vouch(folder, round_digest(campaign, op), int(folder.name.removeprefix("r")), place)
    gate = (source / "ir_gate.json").read_text().replace(TEMPLATE, op)
    (target / "ir_gate.json").write_text(gate)
    return folders


def _rename(folder: Path, op: str) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and TEMPLATE.encode() in (content := path.read_bytes()):
            path.write_bytes(content.replace(TEMPLATE.encode(), op.encode()))


def _vouch(folder: Path, plan: str, number: int, place: int) -> None:
    path = folder / "run_identity.json"
    identity = json.loads(path.read_text())
    started = datetime.fromisoformat(identity["started"]) + timedelta(seconds=place)
    identity |= {"plan": plan, "round": number, "started": started.isoformat(timespec="microseconds")}
    identity["digests"] = {name: sha256_of(folder / name) for name in identity["digests"]}
    path.write_text(json.dumps(identity, indent=2, sort_keys=True) + "\n")
