"""Does compiling ahead disturb what is timed meanwhile? Launches timed while children compile in the background.

    python benchmarks/h200_overlap.py [--backend cuda] [--workers 0 4 8 15] [--waves 8] [--json FILE]

For each number of workers, one kernel of a few microseconds and one of some hundred are timed by Triton's
do_bench (events, the cache cleared before each launch) while that many forked children compile kernels that are
in no cache, as compile_ahead.py lets them while a key is tuned. Printed for each: the launches, how many variants
were compiled meanwhile, the median and the 95th percentile, and both against no worker. `--backend cpu` runs the
same on the interpreter: a test of the script, not of anything else.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Thread
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

IDLE_SAMPLES = 20  # times of do_bench without a worker
REP_MS = {"cuda": 20, "cpu": 2}
# Elements: with 132 SMs and 4.8 TB/s an H200 takes about 3 us and 170 us.
SIZES = {"cuda": {"small": 1 << 18, "large": 1 << 26}, "cpu": {"small": 1 << 8, "large": 1 << 12}}


@dataclass(frozen=True)
class Measured:
    kernel: str
    workers: int
    launches: int
    compiled: int
    median_us: float
    p95_us: float
    median_ratio: float = 1.0
    p95_ratio: float = 1.0


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--backend", default="cuda", choices=sorted(SIZES))
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 4, 8, 15])
    parser.add_argument("--waves", type=int, default=8, help="kernels that each worker compiles")
    parser.add_argument("--json", type=Path, help="also write the figures there")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="zlbench-overlap-") as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        found = list(measure(args.backend, sorted({0, *args.workers}), args.waves))
    for one in found:
        print(line(one), flush=True)
    if args.json:
        args.json.write_text(json.dumps([asdict(one) for one in found], indent=2) + "\n", encoding="utf-8")
    return 0


def line(one: Measured) -> str:
    return (
        f"{one.kernel:6} workers={one.workers:<3} launches={one.launches:<6} compiled={one.compiled:<4}"
        f" median {one.median_us:9.3f} us (x{one.median_ratio:.3f})  p95 {one.p95_us:9.3f} us (x{one.p95_ratio:.3f})"
    )


def measure(backend: str, workers: Sequence[int], waves: int) -> Iterator[Measured]:
    """Idle first, then each number of workers; ratios are to the idle run of the same kernel."""
    from zlbench_core.backends import get_backend

    get_backend(backend).process_activate(None)
    from overlap_kernels import launcher

    seed = 0
    for name, count in SIZES[backend].items():
        launch, tuner_of = launcher(get_backend(backend).torch_device, count)
        idle: Measured | None = None
        for number in workers:
            times, compiled = timed(launch, tuner_of, number, number * waves, seed, REP_MS[backend])
            seed += number * waves
            one = summary(name, number, times, compiled)
            idle = idle or one
            ratios = (one.median_us / idle.median_us, one.p95_us / idle.p95_us)
            yield Measured(*list(asdict(one).values())[:6], *ratios)


def timed(
    launch: Any, tuner_of: Any, workers: int, variants: int, seed: int, rep_ms: int
) -> tuple[list[float], int]:
    """Milliseconds of launches while `variants` kernels compile in `workers` children, and how many did."""
    from triton.testing import do_bench

    from zlbench_core.tuning.compile_ahead import Settings, compiled

    def sample() -> list[float]:
        return do_bench(launch, warmup=1, rep=rep_ms, return_mode="all")

    sample()
    if not workers:
        return [time for _ in range(IDLE_SAMPLES) for time in sample()], 0
    tuner, args, kwargs = tuner_of(range(seed, seed + variants))
    times: list[float] = []
    ready: list[Any] = []
    # One of the settings' workers stands for this process, which times.
    with compiled(tuner, args, kwargs, tuner.configs, Settings(workers + 1, "fork", False)) as configs:
        collector = Thread(target=lambda: ready.extend(configs))
        collector.start()
        while collector.is_alive():
            times += sample()
    return times, len(ready)


def summary(name: str, workers: int, times_ms: list[float], compiled: int) -> Measured:
    cuts = statistics.quantiles(times_ms, n=20, method="inclusive")
    return Measured(name, workers, len(times_ms), compiled, cuts[9] * 1e3, cuts[18] * 1e3)


if __name__ == "__main__":
    raise SystemExit(main())
