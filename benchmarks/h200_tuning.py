"""Tuning mm at core level on one GPU: the suite's own serial tuning against ours, winners side by side.

    python3 benchmarks/h200_tuning.py --flaggems DIR [--dtypes float16 ...] [--out DIR] [--budget SECONDS]

Five runs of the same pytest node, each with a FlagGems cache of its own:

    ours       the default: compiled ahead by forked children, for the coming data types too, and hopeless
               configs dropped early
    ours_warm  as ours with nothing left to compile: no timing overlaps a compilation, so winners that
               differ from `ours` would show that the overlap disturbs
    full       as ours, every config timed in full
    threads    compiled ahead by threads, every config timed in full (the prototype that took 69 s)
    stock      the suite's own tuning: one config after the other, compiled where it is timed

Runs that do not fit the budget are cut off; what they recorded until then is compared all the same.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from zlbench_core.pins.configs import describe  # noqa: E402
from zlbench_core.pins.records import Entry, read_records  # noqa: E402

NODE = "benchmark/test_mm.py::test_mm"


@dataclass(frozen=True)
class Variant:
    name: str
    environ: dict[str, str]
    triton_cache: str  # variants of one name share what is compiled


VARIANTS = (
    Variant("ours", {}, "ours"),
    Variant("ours_warm", {}, "ours"),
    Variant("full", {"ZL_TUNE_EARLY_DROP": "0"}, "full"),
    Variant("threads", {"ZL_COMPILE_POOL": "threads", "ZL_TUNE_EARLY_DROP": "0"}, "threads"),
    Variant("stock", {"ZL_COMPILE_THREADS": "1", "ZL_TUNE_EARLY_DROP": "0"}, "stock"),
)


@dataclass
class Outcome:
    name: str
    exit_code: int | None  # None: cut off by the budget
    wall_s: float
    entries: list[Entry] = field(default_factory=list)

    @property
    def tuning_s(self) -> float:
        return sum(entry.tuning_s or 0.0 for entry in self.entries)


def run_variant(variant: Variant, options: argparse.Namespace, limit_s: float) -> Outcome:
    folder = options.out / variant.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    started = time.perf_counter()
    with (folder / "run.log").open("w") as log:
        try:
            done = subprocess.run(
                command_of(options, folder),
                cwd=options.flaggems,
                env=environment_of(variant, options, folder),
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=max(1.0, limit_s),
                check=False,
            )
            code = done.returncode
        except subprocess.TimeoutExpired:
            code = None
    wall_s = time.perf_counter() - started
    entries = read_records(folder).entries if (folder / "records.json").exists() else []
    return Outcome(variant.name, code, wall_s, entries)


def command_of(options: argparse.Namespace, folder: Path) -> list[str]:
    dtypes = [word for dtype in options.dtypes for word in ("--dtypes", dtype)]
    plugin = ["-p", "zlbench_core.plugins.autotune_record", "-p", "tuning_phases"]
    record = ["--record", "json", "--output", str(folder / "result.json")]
    # One short measurement a row: the rows are not what is compared here.
    timing = ["--level", "core", "--mode", "kernel", "--warmup", "1", "--iter", "5"]
    return [sys.executable, "-m", "pytest", "-s", NODE, *plugin, *timing, *dtypes, *record]


def environment_of(variant: Variant, options: argparse.Namespace, folder: Path) -> dict[str, str]:
    path = [
        str(ROOT),
        str(ROOT / "benchmarks"),
        str(options.flaggems / "src"),
        os.environ.get("PYTHONPATH", ""),
    ]
    kept = {name: value for name, value in os.environ.items() if name != "FLAGGEMS_DB_URL"}
    return {
        **kept,
        **variant.environ,
        "PYTHONPATH": os.pathsep.join(one for one in path if one),
        "ZL_AUTOTUNE_MODE": "record",
        "ZL_BACKEND": "cuda",
        "ZL_OUT_DIR": str(folder),
        "FLAGGEMS_CACHE_DIR": str(options.out / "caches" / variant.name),
        "TRITON_CACHE_DIR": str(options.out / "caches" / f"triton-{variant.triton_cache}"),
    }


def compared(reference: Outcome, other: Outcome) -> Iterator[dict[str, Any]]:
    """One row per key that both recorded: the winners, and how far apart they are for the reference."""
    theirs = {entry.id: entry for entry in other.entries}
    for entry in reference.entries:
        match = theirs.get(entry.id)
        if match is not None:
            yield {
                "key": entry.key,
                "reference": {"winner": describe(entry.winner), "ms": entry.winner_ms, "s": entry.tuning_s},
                "other": {"winner": describe(match.winner), "ms": match.winner_ms, "s": match.tuning_s},
                "timed_in_full": match.n_configs - match.n_dropped,
                "n_configs": match.n_configs,
                "verdict": verdict(entry, match),
            }


def verdict(reference: Entry, other: Entry) -> str:
    """Same winner, a near tie of it, or another, by the reference's own timings."""
    if other.winner == reference.winner:
        return "same"
    listed = {json.dumps(one["config"], sort_keys=True): one["ms"] for one in reference.runners_up}
    ties = {json.dumps(one["config"], sort_keys=True): one["ms"] for one in reference.near_ties}
    wanted = json.dumps(other.winner, sort_keys=True)
    behind = {**listed, **ties}.get(wanted)
    if behind is None or not reference.winner_ms:
        return "other, which the reference did not time"
    gap = f"+{(behind / reference.winner_ms - 1) * 100:.1f} %, {(behind - reference.winner_ms) * 1e3:.2f} us"
    return f"near tie ({gap})" if wanted in ties else f"other ({gap})"


def report(outcomes: list[Outcome]) -> str:
    lines = ["run         exit   keys   wall s   tuning s"]
    lines += [
        f"{one.name:<10}  {'cut' if one.exit_code is None else one.exit_code:>4}  {len(one.entries):>5}"
        f"  {one.wall_s:>7.1f}  {one.tuning_s:>9.1f}"
        for one in outcomes
    ]
    by_name = {one.name: one for one in outcomes}
    for reference, other in (
        ("stock", "full"),
        ("stock", "ours"),
        ("stock", "threads"),
        ("ours_warm", "ours"),
    ):
        if reference in by_name and other in by_name:
            lines += ["", *pair_lines(by_name[reference], by_name[other])]
    return "\n".join(lines)


def pair_lines(reference: Outcome, other: Outcome) -> list[str]:
    rows = list(compared(reference, other))
    spent = [sum(row[side]["s"] or 0.0 for row in rows) for side in ("reference", "other")]
    factor = f"{spent[0] / spent[1]:.1f}x less" if spent[1] else "no tuning at all"
    head = f"{reference.name} against {other.name}, {len(rows)} keys of both:"
    lines = [f"{head} tuning {spent[0]:.1f} s against {spent[1]:.1f} s, {factor}"]
    for row in rows:
        lines.append(f"  {row['key'][:3]} {row['key'][-1]}: {row['verdict']}")
        counts = f"{row['timed_in_full']} of {row['n_configs']} timed in full"
        for side, name in (("reference", reference.name), ("other", other.name)):
            one = row[side]
            time_ms = "none" if one["ms"] is None else f"{one['ms']:.5f} ms"
            seconds = "?" if one["s"] is None else f"{one['s']:.2f}"
            lines.append(f"    {name:<9}  {time_ms}  in {seconds:>6} s  {one['winner']}")
        lines.append(f"    {other.name}: {counts}")
    return lines


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--flaggems", type=Path, required=True, help="a FlagGems checkout")
    parser.add_argument("--dtypes", nargs="*", default=[], help="default: all of the benchmark's")
    parser.add_argument("--out", type=Path, default=ROOT / "build/h200_tuning", help="folder of the runs")
    parser.add_argument("--budget", type=float, default=520.0, help="seconds for all runs together")
    parser.add_argument("--only", nargs="*", default=[one.name for one in VARIANTS], help="some of the runs")
    options = parser.parse_args(arguments)
    options.flaggems, options.out = options.flaggems.resolve(), options.out.resolve()
    return options


def bring_back(out: Path) -> None:
    """Copy the report and the logs, few files, to the folder that a lent machine returns ($OUT)."""
    if target := os.environ.get("OUT"):
        for path in (*out.glob("report.*"), *out.glob("*/run.log")):
            shutil.copy(path, Path(target) / "-".join(path.relative_to(out).parts))


def main() -> int:
    options = parse()
    started = time.perf_counter()
    outcomes = []
    for variant in VARIANTS:
        if variant.name in options.only:
            outcome = run_variant(variant, options, options.budget - (time.perf_counter() - started))
            outcomes.append(outcome)
            print(f"{outcome.name}: exit {outcome.exit_code}, {outcome.wall_s:.1f} s", flush=True)
    shutil.rmtree(options.out / "caches", ignore_errors=True)
    text = report(outcomes)
    print(text)
    (options.out / "report.txt").write_text(text + "\n")
    (options.out / "report.json").write_text(json.dumps([asdict(one) for one in outcomes], indent=1) + "\n")
    bring_back(options.out)
    return 0 if all(one.exit_code == 0 for one in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
