"""What a large campaign costs before it measures anything: a dry run, a rerun with nothing to do, the summary.

    python benchmarks/scale.py [--ops 300] [--rounds 5] [--rows 15] [--keep DIR]

Prints a table of seconds and of the peak memory of each command. The folder is built by scale_campaign.py.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

import yaml
from scale_campaign import Scale, finish, run_folders, write_sources

SUMMARISE = """
import os
from pathlib import Path
import yaml
from zlbench_core.campaign.load import load_campaign
from zlbench_core.judge.summary import summarise
campaign = load_campaign(yaml.safe_load(Path("part.yaml").read_text()))
folders = [Path(line) for line in Path("folders.txt").read_text().split()]
gates = [Path("results/cpu") / op / "ir_gate.json" for op in campaign.subject.ops]
Path("summary").mkdir(exist_ok=True)  # beside the results, which stay as they are
summarise(campaign, folders, gates, Path("summary"), at_once=os.cpu_count())
"""


@dataclass(frozen=True)
class Cost:
    """One command and its children: wall and CPU time in seconds, the peak memory of one of the processes in MiB."""

    name: str
    seconds: float
    cpu: float
    peak_mib: float
    last_line: str


def cost_of(name: str, command: list[str], scale: Scale) -> Cost:
    """Run a command to its end. Exits when it fails: a failed command costs nothing worth a table."""
    log = scale.folder / "command.log"
    with log.open("w") as stream:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=scale.folder, env=scale.environment(), stdout=stream, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    text = log.read_text().strip()
    if os.waitstatus_to_exitcode(status):
        sys.exit(f"{name} failed:\n{text[-2000:]}")
    said = next((line for line in reversed(text.splitlines()) if "Nothing to be done" in line), "")
    return Cost(name, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, said)


def summary_costs(scale: Scale) -> list[Cost]:
    """The summary of a tenth, a third and all of the operators: memory per folder shows in the difference."""
    costs = []
    for ops in sorted({max(1, scale.ops // 10), max(1, scale.ops // 3), scale.ops}):
        part = replace(scale, ops=ops)
        folders = run_folders(part)
        (scale.folder / "folders.txt").write_text(
            "\n".join(str(path.relative_to(scale.folder)) for path in folders)
        )
        (scale.folder / "part.yaml").write_text(yaml.safe_dump(part.config(part.names, scale.rounds)))
        costs.append(cost_of(f"summary, {len(folders)} run folders", [sys.executable, "-c", SUMMARISE], part))
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=15)
    parser.add_argument("--keep", type=Path, help="build here, and leave the folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="zlbench-scale-") as scratch:
        folder = (arguments.keep or Path(scratch)).absolute() / "work"
        scale = Scale(folder, arguments.ops, arguments.rounds, arguments.rows)
        if not scale.folder.exists():
            write_sources(scale)
        costs = []
        if not scale.results.exists():
            costs = [cost_of("dry run, nothing measured yet", scale.command("--dry-run"), scale)]
            finish(scale)
        costs += [
            cost_of("dry run, all measured", scale.command("--dry-run"), scale),
            cost_of("rerun with nothing to do", scale.command(), scale),
            *summary_costs(scale),
        ]
    print(f"{arguments.ops} operators, 2 sides, {arguments.rounds} rounds, {arguments.rows} rows")
    for cost in costs:
        told = f"{cost.seconds:8.1f} s{cost.cpu:8.1f} s of CPU{cost.peak_mib:6.0f} MiB"
        print(f"{cost.name:34}{told}  {cost.last_line[:19]}")


if __name__ == "__main__":
    main()
