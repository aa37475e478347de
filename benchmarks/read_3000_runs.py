"""How long a campaign of 3,000 run folders takes to read: generates them, reads them, prints the seconds.

    python benchmarks/read_3000_runs.py [--runs N] [--tuner-lines N] [--workers N] [--keep DIR]

Each folder holds what a run leaves: a log with three dtype tables of 15 shapes, and, of every ten, eight with
the suite's JSON and one that breaks off. `--tuner-lines 1000` puts the tuner's lines into each log, as
TRITON_PRINT_AUTOTUNING does (mm on an H200: 1,188 lines).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from zlbench_core.results import operator_status, read_run

DTYPES = ("torch.float16", "torch.float32", "torch.bfloat16")
SHAPES = 15
TUNER_LINE = (
    "Autotuning kernel mm_kernel_general_host_tma with config BLOCK_M: 32, BLOCK_N: 32, BLOCK_K: 32, "
    "GROUP_M: 8, num_warps: 4, num_ctas: 1, num_stages: 2, maxnreg: None\n"
)


def measured_rows(run: int) -> list[dict[str, object]]:
    return [
        {
            "shape_detail": [[64 * shape, 64], [64, 128 + run % 7]],
            "latency_base": 0.01 * shape + run * 1e-7,
            "latency": 0.008 * shape + run * 1e-7,
            "speedup": (0.01 * shape + run * 1e-7) / (0.008 * shape + run * 1e-7),
            "error_msg": None,
        }
        for shape in range(1, SHAPES + 1)
    ]


def table_of(dtype: str, rows: list[dict]) -> str:
    lines = [
        f"{'SUCCESS':<10}{row['latency_base']:>20.6f}{row['latency']:>20.6f}{row['speedup']:>20.3f}{' ' * 10}"
        f"[torch.Size({row['shape_detail'][0]}), torch.Size({row['shape_detail'][1]})]\n"
        for row in rows
    ]
    return (
        f"\nOperator: mm  Performance Test (dtype={dtype}, mode=kernel,level=core)\n"
        "Status       Torch Latency (ms)    Gems Latency (ms)         Gems Speedup          Size Detail\n"
        + "-" * 95
        + "\n"
        + "".join(lines)
        + "\n"
    )


def write_run(folder: Path, run: int, tuner_lines: int) -> None:
    folder.mkdir(parents=True)
    rows = measured_rows(run)
    breaks_off = run % 10 == 9
    closing = "" if breaks_off else f"\n{' 1 passed in 10.00s ':=^80}\n"
    body = "".join(TUNER_LINE * (tuner_lines // 3) + table_of(dtype, rows) for dtype in DTYPES)
    start = f"{' test session starts ':=^80}\nbenchmark/test_mm.py "
    (folder / "run.log").write_text(start + body + closing)
    if run % 10 < 8:
        details = [
            {"op_name": "mm", "dtype": dtype, "mode": "kernel", "level": "core", "result": rows}
            for dtype in DTYPES
        ]
        node = "benchmark/test_mm.py::test_mm"
        entry = {"details": details, "result": "passed", "test_case": node, "reason": None}
        (folder / "result.json").write_text(json.dumps({"mm": entry}, indent=2))
    identity = {"schema_version": 1, "pytest_exit": 124 if breaks_off else 0, "op": "mm"}
    (folder / "run_identity.json").write_text(json.dumps(identity))


def read_status(folder: Path) -> tuple[str, int]:
    result = read_run(folder)
    return operator_status(result).status, len(result.rows)


def read_all(folders: list[Path], workers: int) -> list[tuple[str, int]]:
    if workers == 1:
        return [read_status(folder) for folder in folders]
    with ProcessPoolExecutor(workers) as pool:
        return list(pool.map(read_status, folders, chunksize=50))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3000)
    parser.add_argument("--tuner-lines", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="generate here and leave the folders")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = arguments.keep or Path(scratch)
        folders = [root / f"op{run:04}" / "a" / "r1" for run in range(arguments.runs)]
        for run, folder in enumerate(folders):
            write_run(folder, run, arguments.tuner_lines)
        size = sum(file.stat().st_size for folder in folders for file in folder.iterdir())
        start, used = time.perf_counter(), time.process_time()
        found = read_all(folders, arguments.workers)
        seconds, used = time.perf_counter() - start, time.process_time() - used
    statuses = dict(Counter(status for status, _ in found))
    print(
        f"{len(found)} runs, {sum(rows for _, rows in found)} rows, {size / 1e6:.0f} MB, statuses {statuses}"
    )
    print(f"read in {seconds:.2f} s by {arguments.workers} worker(s); this process used {used:.2f} s of CPU")


if __name__ == "__main__":
    main()
