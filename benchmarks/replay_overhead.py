"""What the harness adds to one replay: run_benchmark against the bare pytest command over the same rows and pins.

    python benchmarks/replay_overhead.py [--op mm] [--pairs 10] [--iter 100]

The bare command is the replay's own less what zlbench records: it has the timer and the pins (else it would tune,
and take longer than the replay), and no lease, no identity, no samples, no IR archive and no digests. Both start
with empty caches, by turns: bare first, replay first, and so on. The ratio is taken within each pair.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from zlbench_core.backends.base import DeviceInfo
from zlbench_core.campaign.load import default_config, load_campaign
from zlbench_core.campaign.model import Campaign
from zlbench_core.judge.status import failure_causes
from zlbench_core.providers import get_provider
from zlbench_core.records import run_env
from zlbench_core.run.devices import Lease, lease
from zlbench_core.run.record import publish_pins, record_shard
from zlbench_core.run.runner import RunRequest, benchmark_argv, benchmark_env, run_benchmark

RECORDS_ONLY = "zlbench_core.plugins.ir_archive"


@dataclass(frozen=True)
class Cost:
    """Wall and CPU time of one benchmark process with all around it, in seconds."""

    wall: float
    cpu: float


def cost_of(work: Callable[[], None]) -> Cost:
    start, before = time.perf_counter(), _cpu_seconds()
    work()
    return Cost(time.perf_counter() - start, _cpu_seconds() - before)


def _cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def record(campaign: Campaign, op: str, root: Path) -> Path:
    asked, limit = campaign.record_of(op), campaign.machine.time_limit
    record_shard(asked, op, (0, 1), 0, root / "record" / "shard-0", limit)
    publish_pins(asked, op, [root / "record" / "shard-0"], 0, root / "pins", failure_causes, limit)
    return root / "pins"


def replay(request: RunRequest) -> None:
    with lease("cpu", 0, "replay overhead", 600) as held:
        identity = run_benchmark(request, held)
    if identity["failure"]:
        sys.exit(f"the replay failed: {identity['failure']}; {request.out_dir / 'run.log'}")


def bare(request: RunRequest, held: Lease) -> None:
    invocation = get_provider("builtin").invocation(request.asked, request.side, request.op)
    argv = benchmark_argv(request, invocation)
    place = argv.index(RECORDS_ONLY)
    with tempfile.TemporaryDirectory() as cache:
        env = benchmark_env(request, held) | {"TRITON_CACHE_DIR": cache}
        del env[run_env.OUT_DIR], argv[place - 1 : place + 1]
        argv[argv.index("--output") + 1] = str(Path(cache) / "result.json")
        # A session of its own, as a replay has: the kernel shares a busy machine's cores by session.
        subprocess.run(
            argv,
            cwd=invocation.cwd,
            env=env,
            check=True,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--op", default="mm")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--iter", type=int, default=100, help="milliseconds of timed launches per row")
    arguments = parser.parse_args()
    changes = {"ops": [arguments.op], "sides": {"a": {}, "b": None}, "iter": arguments.iter}
    campaign = load_campaign({**default_config(), **changes})
    pairs: list[tuple[Cost, Cost]] = []
    with tempfile.TemporaryDirectory(prefix="zlbench-overhead-") as scratch:
        pins = record(campaign, arguments.op, Path(scratch))
        held = Lease(campaign_device())
        for pair in range(arguments.pairs):
            out = Path(scratch) / f"r{pair + 1}"
            side = campaign.subject.side("a")
            request = RunRequest(
                campaign,
                side,
                arguments.op,
                out,
                "replay",
                campaign.machine.time_limit,
                round=pair + 1,
                pins_dir=pins,
            )
            work = [lambda asked=request: bare(asked, held), lambda asked=request: replay(asked)]
            costs = {place: cost_of(work[place]) for place in ((0, 1) if pair % 2 == 0 else (1, 0))}
            pairs.append((costs[0], costs[1]))
            print(f"pair {pair + 1}: bare {costs[0].wall:.2f} s, replay {costs[1].wall:.2f} s", flush=True)
    report(pairs)


def campaign_device() -> DeviceInfo | None:
    with lease("cpu", 0, "look", 600) as held:
        return held.device


def report(pairs: list[tuple[Cost, Cost]]) -> None:
    for name in ("wall", "cpu"):
        ratios = sorted(getattr(ours, name) / getattr(plain, name) for plain, ours in pairs)
        bare_s, replay_s = (
            statistics.median(getattr(pair[place], name) for pair in pairs) for place in (0, 1)
        )
        print(
            f"{name:5} bare {bare_s:6.2f} s   replay {replay_s:6.2f} s   ratio {statistics.median(ratios):.3f} "
            f"({ratios[0]:.3f} to {ratios[-1]:.3f}, {len(pairs)} pairs)"
        )


if __name__ == "__main__":
    main()
