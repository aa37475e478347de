"""Two devices: a sharded record against one, two operators at once against one after the other, a killed shard.

    python3 benchmarks/two_gpus.py --flaggems DIR [--out DIR] [--stages record-1 record-2 ...]

Every stage is a real campaign by Snakemake in a folder of its own. docs/two-gpus.md holds a run on two H200s. The
comprehensive stages run a subset of FlagGems' shapes: three of its eight batch sizes, in a copy of the checkout.
Without --flaggems the stages run on the cpu backend with builtin operators: a rehearsal, whose times mean nothing.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from zlbench_core.pins.records import read_records  # noqa: E402
from zlbench_core.records.identity import load_identity  # noqa: E402

STAGES = ("record-1", "record-2", "comprehensive-1", "comprehensive-2", "killed", "neighbours")
ROUNDS = 4
BATCH_SIZES = "BS = [1, 2, 3, 4, 8, 98, 256, 8192]", "BS = [2, 98, 8192]"  # in benchmark/consts.py


class Bench:
    def __init__(self, options: argparse.Namespace) -> None:
        self.out: Path = options.out
        self.flaggems: Path | None = options.flaggems
        self.backend = "cuda" if options.flaggems else "cpu"
        self.lines: list[str] = []

    def say(self, text: str = "") -> None:
        print(text, flush=True)
        self.lines.append(text)

    def record_config(self, level: str, shards: int) -> dict[str, Any]:
        mm: dict[str, Any] = {"backend": self.backend, "ops": ["mm"], "level": level, "time_limit": 500}
        mm |= {"sides": {"a": {}, "b": None}, "rounds": 1}
        mm |= {"devices": list(range(shards)), "autotune": {"shards": shards}}
        if self.flaggems is None:
            return mm | {"dtypes": ["float32", "float16"]}
        gems = {"provider": "flaggems", "flaggems_dir": str(self.flaggems)}
        if level == "comprehensive":
            gems |= {"flaggems_dir": str(self.subset(self.flaggems)), "dtypes": ["float16"]}
        return mm | gems

    def subset(self, flaggems: Path) -> Path:
        """A copy of the checkout whose comprehensive level has fewer batch sizes."""
        copy = self.out / "FlagGems-subset"
        if not copy.exists():
            shutil.copytree(flaggems, copy, symlinks=True)
            consts = copy / "benchmark/consts.py"
            text = consts.read_text()
            if BATCH_SIZES[0] not in text:
                raise SystemExit(f"{consts} has no line '{BATCH_SIZES[0]}' to make a subset of")
            consts.write_text(text.replace(*BATCH_SIZES))
        return copy

    def neighbours_config(self, rounds: int) -> dict[str, Any]:
        """Both sides of equal code: a switch that changes no code, measured all the same."""
        sides = {"a": {}, "b": {"env": {"TRITON_DISABLE_LINE_INFO": "1"}}}
        return {
            "backend": self.backend,
            "ops": ["mm", "softmax"],
            "devices": [0, 1],
            "dtypes": ["float16"] if self.flaggems else ["float32"],
            "sides": sides,
            "policy": "survey",
            "protocol": "duet",
            "rounds": rounds,
            "ir_gate": {"allow_no_diff": True},
        }

    def campaign(self, name: str, config: dict[str, Any], cores: int, targets: tuple[str, ...] = ()) -> float:
        """Wall seconds of one campaign in the folder `name`."""
        folder = self.out / name
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "campaign.yaml"
        file.write_text(yaml.safe_dump(config))
        command = [sys.executable, "-m", "snakemake", *targets, "-s", str(ROOT / "workflow/Snakefile")]
        command += ["--directory", str(folder), "--cores", str(cores), "--configfile", str(file)]
        env = {**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"}
        started = time.perf_counter()
        with (folder / "snakemake.log").open("w") as log:
            done = subprocess.run(
                command, cwd=ROOT, env=env, stdout=log, stderr=subprocess.STDOUT, check=False
            )
        wall = time.perf_counter() - started
        self.say(f"{name}: snakemake exit {done.returncode}, {wall:.1f} s")
        return wall

    def pins(self, name: str) -> Path:
        return self.out / name / "results" / self.backend / "mm" / "pins"

    def shards(self, name: str) -> list[Path]:
        return sorted((self.out / name / "results" / self.backend / "mm" / "record").glob("s*"))


def record(bench: Bench, level: str, shards: int) -> None:
    """Record mm by one shard or two: keys, tuning seconds and wall seconds of each process."""
    name = f"record-{level}-{shards}"
    bench.campaign(
        name, bench.record_config(level, shards), 4, (f"results/{bench.backend}/mm/pins/meta.json",)
    )
    for folder in bench.shards(name):
        identity = load_identity(folder)
        lasted = seconds_between(identity["started"], identity["ended"])
        bench.say(
            f"  {name}/{folder.name}: {len(read_records(folder).entries)} keys, tuning {tuning(folder):.1f} s, "
            f"process {lasted:.1f} s, device {identity.get('device_uuid')}, {identity.get('status')}"
        )


def compare_records(bench: Bench, level: str) -> None:
    """The pins of both, side by side, and how much sooner the slower of two shards is done."""
    names = [f"record-{level}-{shards}" for shards in (1, 2)]
    if not all((bench.pins(name) / "meta.json").exists() for name in names):
        return
    one, two = ([tuning(folder) for folder in bench.shards(name)] for name in names)
    bench.say(
        f"## {level}: the slower of two shards tunes {max(one) / max(two):.2f} times faster than one shard"
    )
    command = [sys.executable, "-m", "zlbench_core", "pins", "diff", *map(str, map(bench.pins, names))]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    bench.say(f"zlbench pins diff (exit {told.returncode}):\n{told.stdout}{told.stderr}")


def tuning(folder: Path) -> float:
    return sum(entry.tuning_s or 0.0 for entry in read_records(folder).entries)


def killed(bench: Bench) -> None:
    """End shard 1 by SIGKILL once it has tuned a key: nothing of the shards is published, the serial sweep is."""
    name = "killed"
    victim = bench.out / name / "results" / bench.backend / "mm" / "record" / "shard-1"
    shutil.rmtree(bench.out / name, ignore_errors=True)
    watcher = threading.Thread(target=kill_when_recorded, args=(victim, bench), daemon=True)
    watcher.start()
    target = (f"results/{bench.backend}/mm/pins/meta.json",)
    bench.campaign(name, bench.record_config("core", 2), 4, target)
    meta = json.loads((bench.pins(name) / "meta.json").read_text())
    for folder in bench.shards(name):
        identity = load_identity(folder)
        bench.say(f"  {folder.name}: {identity.get('status')}, {identity.get('failure')}")
    bench.say(f"  pins: {meta.get('status')}, from {meta.get('source_shards')}")
    bench.say(f"  discarded: {json.dumps(meta.get('discarded'))}")


def kill_when_recorded(shard: Path, bench: Bench) -> None:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        if (shard / "records.json").exists():
            for pid in processes_of(shard):
                os.kill(pid, signal.SIGKILL)
                bench.say(f"  killed process {pid} of {shard.name} after its first keys")
            return
        time.sleep(0.1)


def processes_of(shard: Path) -> Iterator[int]:
    """The benchmark processes of a run folder, by what their environment says."""
    wanted = f"ZL_OUT_DIR={shard}".encode()
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in entry.read_bytes().split(b"\0"):
                yield int(entry.parent.name)
        except OSError:
            continue


def neighbours(bench: Bench) -> None:
    """Two operators, each on its device: rounds one after the other, then as many more at once, side by side."""
    halves = {"one after the other": range(1, ROUNDS + 1), "at once": range(ROUNDS + 1, 2 * ROUNDS + 1)}
    for cores, rounds in zip((1, 4), halves.values(), strict=True):
        bench.campaign("neighbours", bench.neighbours_config(rounds[-1]), cores)
    spreads = {how: spread_by_row(bench, rounds) for how, rounds in halves.items()}
    bench.say("| row | us | " + " | ".join(f"{how}: within a run, A/A" for how in halves) + " |")
    bench.say("| --- | --- | --- | --- |")
    for row in sorted(set.intersection(*(set(rows) for rows in spreads.values()))):
        told = [f"{found[row][1]:.2%}, {found[row][2]:.2%}" for found in spreads.values()]
        first = next(iter(spreads.values()))[row]
        bench.say(f"| {row} | {first[0] * 1e3:.1f} | {' | '.join(told)} |")


def spread_by_row(bench: Bench, rounds: range) -> dict[str, tuple[float, float, float]]:
    """Of each row: ms, the middle of the runs' own spreads (p80 - p20 over the median), the A/A log ratios' sd."""
    within: dict[str, list[float]] = {}
    middle: dict[str, dict[tuple[str, int], float]] = {}
    for folder in sorted((bench.out / "neighbours/results" / bench.backend).glob("*/[ab]/r*")):
        op, side, number = folder.parts[-3], folder.parts[-2], int(folder.name[1:])
        samples = folder / "samples.jsonl"
        if number not in rounds or not samples.exists():
            continue
        for sample in map(json.loads, samples.read_text().splitlines()):
            values = sorted(sample["samples_ms"])
            row = f"{op} {sample['row']['label']} {sample['row']['occurrence']}"
            p20, p50, p80 = (values[int(share * (len(values) - 1))] for share in (0.2, 0.5, 0.8))
            within.setdefault(row, []).append((p80 - p20) / p50)
            middle.setdefault(row, {})[side, number] = sample["value_ms"]
    return {
        row: (
            statistics.median(values.values()),
            statistics.median(within[row]),
            spread_of_pairs(values, rounds),
        )
        for row, values in middle.items()
    }


def spread_of_pairs(values: dict[tuple[str, int], float], rounds: range) -> float:
    pairs = [number for number in rounds if {("a", number), ("b", number)} <= set(values)]
    ratios = [math.log(values["b", number] / values["a", number]) for number in pairs]
    return statistics.stdev(ratios) if len(ratios) > 1 else math.nan


def overlaps(bench: Bench) -> str:
    """Whether two jobs ever were on one device at once, over every identity of this run.

    The two processes of a duet are one job: they hand the device to each other.
    """
    jobs: dict[tuple[str, str], list[tuple[datetime, datetime]]] = {}
    for path in bench.out.rglob("run_identity.json"):
        identity = load_identity(path.parent)
        if identity.get("started") and identity.get("ended"):
            span = moment(identity["started"]), moment(identity["ended"])
            jobs.setdefault((str(identity.get("device_uuid")), job_of(bench, path.parent)), []).append(span)
    spans: dict[str, list[tuple[datetime, datetime, str]]] = {}
    for (uuid, job), found in jobs.items():
        spans.setdefault(uuid, []).append((min(one[0] for one in found), max(one[1] for one in found), job))
    shared = []
    for uuid, found in spans.items():
        found.sort()
        shared += [
            f"{one[2]} and {two[2]} on {uuid}" for one, two in itertools.pairwise(found) if two[0] < one[1]
        ]
    counts = ", ".join(f"{len(found)} on {uuid}" for uuid, found in sorted(spans.items()))
    return f"jobs by device: {counts}; two at once on one device: {'; '.join(shared) or 'never'}"


def job_of(bench: Bench, run: Path) -> str:
    """A round's two sides are one job, so the name of a side is left out; any other run is its own."""
    inside = run.relative_to(bench.out)
    is_round = inside.parent.name in ("a", "b")
    return str(inside.parent.parent / inside.name) if is_round else str(inside)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def seconds_between(start: str, end: str) -> float:
    return (moment(end) - moment(start)).total_seconds()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--flaggems", type=Path, help="a FlagGems checkout; the cpu backend without it")
    parser.add_argument("--out", type=Path, default=ROOT / "build/two_gpus", help="folder of the campaigns")
    parser.add_argument("--stages", nargs="*", default=list(STAGES), choices=STAGES)
    options = parser.parse_args()
    options.out = options.out.resolve()
    options.flaggems = options.flaggems.resolve() if options.flaggems else None
    bench = Bench(options)
    for stage in options.stages:
        started = time.perf_counter()
        bench.say(f"## {stage}")
        kind, _, shards = stage.partition("-")
        if shards:
            record(bench, {"record": "core"}.get(kind, kind), int(shards))
        else:
            {"killed": killed, "neighbours": neighbours}[stage](bench)
        bench.say(f"({stage}: {time.perf_counter() - started:.0f} s)")
        (options.out / "report.txt").write_text("\n".join(bench.lines) + "\n")
    for level in ("core", "comprehensive"):
        compare_records(bench, level)
    bench.say(overlaps(bench))
    (options.out / "report.txt").write_text("\n".join(bench.lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
