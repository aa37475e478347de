"""Verdicts on one GPU or two: A/A, a difference of known size, a drift of one side. docs/measurement.md holds a run.

    python3 benchmarks/h200_duet.py --flaggems DIR [--devices 0 1] [--out DIR] [--only NAME ...] [--peers]

Every line is a real campaign by Snakemake in a folder of its own. Two campaigns at a time are held for each device:
the device's lease lets one of them use it, while the other plans, judges or waits.

    gems-*     a FlagGems operator, both sides of equal code (protocol duet)
    spin-0     a kernel of 2000 loops against itself
    spin-0.5   ... against 2010 loops: 0.5 % more work
    spin-1     ... against 2020 loops: 1 % more
    drift      ... against itself, side b 0.2 % slower in each further round
    own-*      one run a side, all of A and then all of B (protocol rounds): the order in which other tools measure

Without --flaggems: the cpu backend, builtin operators, a rehearsal.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.first_side import read_rounds  # noqa: E402
from zlbench_core.verdicts import RowRounds, decide_operator  # noqa: E402

SAME_CODE = {"TRITON_DISABLE_LINE_INFO": "1"}
LOOPS = {"0": 2000, "0.5": 2010, "1": 2020}
GEMS_OPS = ["mm", "softmax", "gelu", "rms_norm", "layer_norm", "sum", "cumsum", "add", "mul", "log_softmax"]


class Bench:
    def __init__(self, options: argparse.Namespace) -> None:
        self.out, self.flaggems, self.devices = options.out, options.flaggems, options.devices
        self.backend = "cuda" if options.flaggems else "cpu"
        self.ends = time.monotonic() + options.budget

    def campaigns(self) -> dict[str, dict[str, Any]]:
        """The configurations by name, in the order in which they start."""
        found = {f"spin-{percent}": self.spin(LOOPS[percent], "duet", 6) for percent in LOOPS}
        found["drift"] = self.spin(LOOPS["0"], "duet", 6, {"SPIN_DRIFT": "4"})
        found |= {f"own-{percent}": self.spin(LOOPS[percent], "rounds", 1) for percent in LOOPS}
        return found | {f"gems-{op}": self.gems(op) for op in GEMS_OPS}

    def common(self) -> dict[str, Any]:
        return {
            "backend": self.backend,
            "ir_gate": {"allow_no_diff": True},
            "time_limit": 500,
            "policy": "survey",
            "protocol": "duet",
            "duet": {"patience": 60},
            "rounds": 6,
        }

    def gems(self, op: str) -> dict[str, Any]:
        config = self.common() | {"sides": {"a": {}, "b": {"env": SAME_CODE}}, "ops": [op]}
        if self.flaggems is None:
            return config | {"dtypes": ["float32"]}
        gems = {"provider": "flaggems", "flaggems_dir": str(self.flaggems)}
        return config | gems | {"dtypes": ["float16", "float32", "bfloat16"]}

    def spin(
        self, loops: int, protocol: str, rounds: int, more: dict[str, str] | None = None
    ) -> dict[str, Any]:
        config = self.common() | {"ops": ["spin"], "suite_dirs": [str(ROOT / "benchmarks/injected")]}
        config |= {"dtypes": ["float32"], "autotune": {"mode": "off"}, "protocol": protocol, "rounds": rounds}
        shorter = 1 if self.flaggems else 100  # the interpreter is slow
        if self.flaggems is None:
            shapes = self.out / "shapes.yaml"
            shapes.write_text(yaml.safe_dump({"spin": {"shapes": [[256], [512]]}}))
            config |= {"shape_file": str(shapes), "duet": {"superblocks": 3, "warm_up": 1}}
        a, b = ({"SPINS": str(number // shorter)} for number in (LOOPS["0"], loops))
        return config | {"sides": {"a": {"env": a}, "b": {"env": b | SAME_CODE | (more or {})}}}

    def run(self, name: str, device: int, config: dict[str, Any]) -> None:
        """Run a campaign, or go on with it; end it as a Ctrl-C would when the budget is spent."""
        left = self.ends - time.monotonic()
        if left <= 0:
            return
        folder = self.out / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "campaign.yaml").write_text(yaml.safe_dump(config | {"devices": [device]}))
        command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "workflow/Snakefile")]
        command += ["--directory", str(folder), "--cores", "2", "--configfile", str(folder / "campaign.yaml")]
        env = {**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"}
        started = time.perf_counter()
        with (folder / "snakemake.log").open("a") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, env=env, stdout=log, stderr=subprocess.STDOUT, process_group=0
            )
            try:
                code = process.wait(left)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGINT)
                code = process.wait()
        print(f"{name}: snakemake exit {code}, {time.perf_counter() - started:.0f} s", flush=True)

    def results(self, name: str) -> Path:
        return self.out / name / "results" / self.backend


def report(bench: Bench, names: list[str]) -> str:
    head = ("campaign", "operator", "verdict", "ratio, 95 % interval", "rows", "rows claimed")
    head += ("sd of the rounds", "device s a row and round")
    lines = [f"| {' | '.join(head)} |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in names:
        path = bench.results(name) / "verdicts.json"
        if not path.exists():
            lines += [
                line_of(name, operator, bench.results(name)) for operator in cut_off(bench.results(name))
            ]
            continue
        found = json.loads(path.read_text())
        lines += [line_of(name, operator, bench.results(name)) for operator in found["operators"]]
        if any(operator["refusals"] for operator in found["operators"]):  # what the clock says all the same
            lines += [
                line_of(name, operator, bench.results(name)) for operator in cut_off(bench.results(name))
            ]
        if found.get("void"):
            lines.append(f"| {name} | | VOID: {found['void']} | | | | | |")
    return "\n".join(lines)


def cut_off(results: Path) -> list[dict[str, Any]]:
    """The operators of a campaign that was ended before its summary, or refused, judged by the rounds that both sides
    finished."""
    operators = []
    for folder in sorted(path for path in results.glob("*") if (path / "a").is_dir()):
        values, firsts = read_rounds(folder)
        rows = [rows_of(folder.name, row, by_round, firsts) for row, by_round in sorted(values.items())]
        if rows:
            found = decide_operator(folder.name, rows, ir=None, refusals=[]).to_json()
            operators.append(
                found | {"detail": f"by its {len(rows[0].log_ratios)} finished rounds", "refusals": []}
            )
    return operators


def rows_of(op: str, row: str, by_round: dict[int, dict[str, float]], firsts: dict[int, str]) -> RowRounds:
    both = {number: sides for number, sides in sorted(by_round.items()) if set(sides) == {"a", "b"}}
    pairs = list(both.values())
    return RowRounds(
        op=op,
        dtype="",
        mode="kernel",
        size=row,
        occurrence=0,
        log_ratios=tuple(math.log(sides["b"] / sides["a"]) for sides in pairs),
        t_a_ms=statistics.median(sides["a"] for sides in pairs),
        t_b_ms=statistics.median(sides["b"] for sides in pairs),
        firsts=tuple(firsts.get(number) for number in both),
    )


def line_of(name: str, operator: dict[str, Any], results: Path) -> str:
    # Equal code is NO CODE CHANGE whatever the clock says; what the clock says of it is its placebo.
    judged = operator.get("placebo") or operator
    evidence = judged["evidence"] or {}
    interval = evidence.get("ratio_ci") or [float("nan")] * 2
    rows = judged["rows"]
    claimed = sum(row.get("verdict") in ("FASTER", "SLOWER") for row in rows)
    spreads = [row["sd_log"] for row in rows if row.get("sd_log") is not None]
    spread = f"{min(spreads):.2%} to {max(spreads):.2%}" if spreads else ""
    ratio = f"{evidence.get('ratio', float('nan')):.4f}, {interval[0]:.4f} to {interval[1]:.4f}"
    detail = "; ".join([*operator["refusals"]][:1]) or judged["detail"] or ""
    verdict = (
        judged["verdict"]
        if judged is operator
        else f"{operator['verdict']}, as a placebo {judged['verdict']}"
    )
    spent = seconds_a_row(results / operator["op"])
    return (
        f"| {name} | {operator['op']} | {verdict} {detail} | {ratio} | {len(rows)} | {claimed} | {spread} "
        f"| {spent:.2f} |"
    )


def seconds_a_row(folder: Path) -> float:
    """Device seconds of both sides together, flushes, discarded and warm-up launches included: the middle row."""
    by_row: dict[tuple[str, str], float] = {}
    for path in folder.glob("[ab]/r*/samples.jsonl"):
        for line in path.read_text().splitlines():
            sample = json.loads(line)
            spent = sum((sample.get("spent_ms") or {}).values()) / 1e3
            key = (path.parent.name, str(sample["seq"]))
            by_row[key] = by_row.get(key, 0.0) + spent
    return statistics.median(by_row.values()) if by_row else float("nan")


def peers(bench: Bench) -> str:
    """What the published rules of other tools say: on the duet's samples, and in their own order."""
    told = []
    for name in (*(f"spin-{percent}" for percent in LOOPS), *(f"gems-{op}" for op in GEMS_OPS)):
        if not (bench.results(name) / "samples.parquet").exists():
            continue
        command = [sys.executable, str(ROOT / "benchmarks/peer_tables.py"), str(bench.results(name))]
        own = bench.results(name.replace("spin", "own")) / "samples.parquet"
        command += ["--own-order", str(own)] if name.startswith("spin") and own.exists() else []
        env = {**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        told.append(f"### {name}\n\n{done.stdout}{done.stderr}")
    return "\n".join(told)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--flaggems", type=Path, help="a FlagGems checkout; the cpu backend without it")
    parser.add_argument("--devices", type=int, nargs="*", default=[0], help="one GPU or two")
    parser.add_argument("--out", type=Path, default=ROOT / "build/h200_duet", help="folder of the campaigns")
    parser.add_argument("--only", nargs="*", help="some of the campaigns")
    parser.add_argument("--budget", type=float, default=math.inf, help="seconds; the same command goes on")
    parser.add_argument("--read", action="store_true", help="run nothing, read what lies in --out")
    options = parser.parse_args()
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    options.flaggems = options.flaggems.resolve() if options.flaggems else None
    bench = Bench(options)
    campaigns = {
        name: one for name, one in bench.campaigns().items() if not options.only or name in options.only
    }

    if not options.read:
        waiting = Queue[str]()
        for name in campaigns:
            waiting.put(name)

        def work_on(device: int) -> None:
            with suppress(Empty):
                while True:
                    name = waiting.get_nowait()
                    bench.run(name, device, campaigns[name])

        with ThreadPoolExecutor(2 * len(options.devices)) as pool:
            list(pool.map(work_on, options.devices * 2))
    text = f"{report(bench, list(campaigns))}\n\n{peers(bench)}\n"
    print(text)
    (options.out / "report.md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
