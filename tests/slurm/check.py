"""Holds a campaign that ran through Slurm against Slurm's own log of its jobs: who had which GPU, and when.

    python tests/slurm/check.py FOLDER     FOLDER/cluster/jobs.log, FOLDER/work/results/cpu

Prints what it found and closes with pytest's word for it; exits 1 at the first thing that is not as it must be.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections import defaultdict
from datetime import datetime
from pathlib import Path

Span = tuple[int, int, str]  # start and end in nanoseconds, job


def spans_of(log: Path) -> dict[str, list[Span]]:
    """The times of the jobs of each GPU, from the lines that Slurm's prolog and epilog wrote."""
    started: dict[str, tuple[int, str]] = {}
    spans: dict[str, list[Span]] = defaultdict(list)
    for line in log.read_text().splitlines():
        what, job, gpu, when = line.split()
        if what == "start":
            started[job] = (int(when), gpu)
        else:
            begin, gpu = started.pop(job)
            spans[gpu].append((begin, int(when), job))
    expect(not started, f"jobs that never ended: {sorted(started)}")
    return spans


def check_jobs(spans: dict[str, list[Span]]) -> None:
    expect(set(spans) == {"0", "1"}, f"GPUs used: {sorted(spans)}; each job asks for one, and there are two")
    for gpu, mine in spans.items():
        ordered = sorted(mine)
        for before, after in itertools.pairwise(ordered):
            expect(before[1] <= after[0], f"jobs {before[2]} and {after[2]} had GPU {gpu} at the same time")
        print(f"GPU {gpu}: {len(mine)} jobs, one at a time")
    first, second = (sum(end - begin for begin, end, _ in mine) for mine in spans.values())
    print(f"in use: {first / 1e9:.0f} s and {second / 1e9:.0f} s")


def check_runs(results: Path, spans: dict[str, list[Span]]) -> int:
    """Each run, record or round, recorded the GPU that Slurm gave to its job; returns the number of rounds.

    Both sides of a round ran on one.
    """
    devices: dict[tuple[str, int | None], set[str]] = defaultdict(set)
    for path in [*results.glob("*/?/r*/run_identity.json"), *results.glob("*/record/*/run_identity.json")]:
        identity = json.loads(path.read_text())
        expect(identity["status"] == "complete", f"{path}: {identity['failure']}")
        gpu = identity["device_uuid"].removeprefix("cpu-")
        inside = any(
            begin <= ns(identity["started"]) < ns(identity["ended"]) <= end for begin, end, _ in spans[gpu]
        )
        expect(inside, f"{path} recorded GPU {gpu}, and no job had that GPU at the time")
        devices[identity["op"], identity["round"]].add(gpu)
    expect(all(len(found) == 1 for found in devices.values()), f"a round on two devices: {devices}")
    used = sorted(set().union(*devices.values()))
    expect(used == ["0", "1"], f"GPUs recorded: {used}")
    rounds = sum(number is not None for _, number in devices)
    print(
        f"{rounds} rounds and {len(devices) - rounds} records, each on the GPU of its job: {', '.join(used)}"
    )
    return rounds


def ns(time: str) -> int:
    return int(datetime.fromisoformat(time).timestamp() * 1e6) * 1000


def check_verdicts(results: Path) -> None:
    verdicts = json.loads((results / "verdicts.json").read_text())["operators"]
    for operator in verdicts:
        expect(not operator["refusals"], f"{operator['op']} is refused: {operator['refusals']}")
        print(f"{operator['op']}: {operator['verdict']}")


def expect(good: bool, otherwise: str) -> None:
    if not good:
        sys.exit(f"FAILED {otherwise}")


def main(folder: Path) -> None:
    spans = spans_of(folder / "cluster" / "jobs.log")
    results = folder / "work" / "results" / "cpu"
    check_jobs(spans)
    rounds = check_runs(results, spans)
    jobs = sum(map(len, spans.values()))
    expect(jobs > rounds, f"{jobs} jobs for {rounds} rounds: preflight and records have to be jobs too")
    check_verdicts(results)
    print(f"slurm: {jobs} jobs, {rounds} rounds")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
