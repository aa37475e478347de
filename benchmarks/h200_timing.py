"""What the timer does on a real NVIDIA GPU, shown in one run of at most eight minutes.

    PYTHONPATH=<wheels of FlagGems' needs> python benchmarks/h200_timing.py --flaggems DIR --out DIR

It needs torch, triton, pytest, and a FlagGems checkout whose requirements can be imported. It writes
report.json and report.md, and one folder per process under OUT/runs:
- suites: FlagGems' softmax, layer_norm, sort, dropout, unique and mm, captured and direct, row by row;
- softmax: test_softmax.py whole in cudagraph mode, stock and with the timing plugin;
- spread: 20 repeats of five rows on both timers, as coefficients of variation;
- fatal: an illegal access, a device-side assert and an out-of-memory inside a capture, a process each;
- aftermath: what refused captures leave behind, with and without the guards.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from zlbench_core.errors import ReadError  # noqa: E402 - the script runs without an installed zlbench
from zlbench_core.records.identity import init_identity, load_identity  # noqa: E402
from zlbench_core.results.reader import read_run  # noqa: E402
from zlbench_core.results.samples import TimedCall, calls_of_rows, read_samples  # noqa: E402

# op, what to run, dtype, seconds for the captured run (it tunes and compiles) and for the direct one.
SUITES = (
    ("softmax", "test_softmax.py", "float16", 60, 40),
    ("layer_norm", "test_layer_norm.py", "float16", 45, 30),
    ("sort", "test_sort.py", "float16", 60, 40),
    ("dropout", "test_dropout.py", "float16", 40, 30),
    ("unique2", "test_unique.py", "int32", 40, 30),
    ("mm", "test_mm.py::test_mm", "float16", 150, 40),
)
REPEATS = 20
# The first turn after a pause finds another clock than the rest; both timers lose it alike.
WARM_TURNS = 2
NO_CACHE = ("-p", "no:cacheprovider")
TIMING = ("-p", "zlbench_core.plugins.timing")
SHORT_US = 20.0


@dataclass
class Bench:
    """Where things are and how long they may still take."""

    flaggems: Path
    out: Path
    deadline: float
    caches: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="h200-timing-")))

    def left(self) -> float:
        return self.deadline - time.monotonic()

    def env(self, run: Path, timer: str, op: str = "") -> dict[str, str]:
        path = [str(ROOT), str(self.flaggems / "src"), os.environ.get("PYTHONPATH", "")]
        return os.environ | {
            "PYTHONPATH": os.pathsep.join(filter(None, path)),
            "PYTHONUNBUFFERED": "1",
            "TRITON_CACHE_DIR": str(self.caches / "triton"),
            "FLAGGEMS_CACHE_DIR": str(self.caches / "flaggems"),
            "FLAGGEMS_PERF_CURRENT_OP": op,
            "ZL_BACKEND": "cuda",
            "ZL_DEVICE": "0",
            "ZL_OUT_DIR": str(run),
            "ZL_TIMER": timer,
        }

    def start(
        self, name: str, argv: list[str], timer: str, limit: float, op: str = "", cwd: Path | None = None
    ) -> dict[str, Any]:
        """Run a process in a folder of its own, with its log; a limit that it meets is told, not raised."""
        run = self.out / "runs" / name
        init_identity(run, op=op or name)
        limit = max(1.0, min(limit, self.left()))
        argv = [word.replace("{run}", str(run)) for word in argv]
        began = time.monotonic()
        with open(run / "run.log", "w", encoding="utf-8") as log:
            try:
                code: int | str = subprocess.run(
                    [sys.executable, *argv],
                    cwd=cwd or self.flaggems,
                    env=self.env(run, timer, op),
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    timeout=limit,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                code = f"stopped after {limit:.0f} s"
        return {"name": name, "run": str(run), "exit": code, "seconds": round(time.monotonic() - began, 1)}


def pytest_argv(what: str, mode: str, dtype: str, plugin: bool = True) -> list[str]:
    loaded = TIMING if plugin else ()
    return [
        *("-m", "pytest", f"benchmark/{what}", "-s", *NO_CACHE, *loaded),
        *("--level", "core", "--mode", mode, "--dtypes", dtype, "--metrics", "latency"),
        *("--warmup", "10", "--iter", "20", "--record", "json", "--output", "{run}/result.json"),
    ]


def timed_calls(run: Path) -> list[dict[str, Any]]:
    """The timed calls of a run with the size of the row that each became, where the suite got to print it."""
    try:
        calls = read_samples(run / "samples.jsonl")
    except ReadError:
        return []
    sizes: dict[int, str] = {}
    try:
        rows = read_run(run).rows
        found = calls_of_rows(rows, calls)
        sizes = {own.measured.seq: row.size for row in rows if (own := found[row.key]).measured}
    except ReadError:
        pass
    return [_call(call, sizes.get(call.seq)) for call in calls]


def _call(call: TimedCall, size: str | None) -> dict[str, Any]:
    return {
        "node": call.node.rpartition("::")[2],
        "size": size,
        "timer": call.timer,
        "us": None if call.value_ms is None else call.value_ms * 1e3,
        "samples": len(call.samples_ms),
        "fallback": call.fallback,
    }


def outcome(run: Path) -> dict[str, Any]:
    """pytest's own counts, the tests with rows, and the end of the log for who has to look."""
    log = (run / "run.log").read_text(encoding="utf-8", errors="replace")
    try:
        result = read_run(run)
    except ReadError as error:
        return {"unreadable": str(error), "log_tail": log[-1500:]}
    summary = result.pytest_summary
    return {
        "passed": summary.passed if summary else None,
        "failed": summary.failed if summary else None,
        "skipped": summary.skipped if summary else None,
        "rows_by_op": dict(Counter(row.op for row in result.rows)),
        "markers": dict(result.markers),
        "failures": [failure.message[:200] for failure in result.failures[:5]],
        "log_tail": log[-800:],
    }


def suites(bench: Bench) -> list[dict[str, Any]]:
    done = []
    for op, what, dtype, capture_limit, direct_limit in SUITES:
        both = {}
        for timer, limit in (("auto", capture_limit), ("direct", direct_limit)):
            argv = pytest_argv(what, "kernel", dtype)
            process = bench.start(f"{op}-{timer}", argv, timer, limit, op)
            run = Path(process["run"])
            both[timer] = {
                **process,
                **outcome(run),
                "calls": timed_calls(run),
                "identity": load_identity(run),
            }
        done.append({"op": op, "dtype": dtype, "rows": side_by_side(both), **both})
    return done


def side_by_side(both: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Each row captured and direct: the timed calls stand in the same order in both runs."""
    direct = dict(_numbered(both["direct"]["calls"]))
    return [
        {
            "test": key[0],
            "size": call["size"] or direct.get(key, {}).get("size"),
            "timer": call["timer"],
            "captured_us": call["us"] if call["timer"] == "cuda_graph" else None,
            "direct_us": direct.get(key, {}).get("us"),
            "fallback": call["fallback"],
        }
        for key, call in _numbered(both["auto"]["calls"])
    ]


def _numbered(calls: list[dict[str, Any]]) -> Iterator[tuple[tuple[str, int], dict[str, Any]]]:
    seen: Counter[str] = Counter()
    for call in calls:
        yield (call["node"], seen[call["node"]]), call
        seen[call["node"]] += 1


def softmax_whole(bench: Bench) -> dict[str, Any]:
    """Its backward refuses capture. Stock FlagGems loses every later test of the process to that."""
    found = {}
    for name, plugin in (("stock", False), ("plugin", True)):
        argv = pytest_argv("test_softmax.py", "cudagraph", "float16", plugin)
        process = bench.start(f"softmax-whole-{name}", argv, "auto", 60, "softmax")
        found[name] = {**process, **outcome(Path(process["run"]))}
    return found


def worker(bench: Bench, name: str, limit: float) -> dict[str, Any]:
    """Run a part of this script in a process of its own and read the JSON that it leaves."""
    process = bench.start(name, [__file__, "--worker", name, "--out", "{run}"], "auto", limit)
    run = Path(process["run"])
    result = run / "worker.json"
    if result.exists():
        return {**process, "result": json.loads(result.read_text())}
    return {**process, "log_tail": (run / "run.log").read_text(errors="replace")[-1500:]}


def make_session(timer: str) -> Any:
    """A timing session as the plugin makes it, for timed calls outside of pytest."""
    from zlbench_core.plugins.timing import TimingPlugin
    from zlbench_core.records.run_env import RunEnv

    return TimingPlugin(RunEnv.read({"ZL_BACKEND": "cuda", "ZL_TIMER": timer})).session


def measure_spread() -> dict[str, Any]:
    """Latencies in ms of five FlagGems rows, REPEATS times on each timer, the timers taking turns."""
    import flag_gems

    from zlbench_core.timing.samples import TimedRequest

    sessions = {timer: make_session(timer) for timer in ("auto", "direct")}
    values: dict[str, dict[str, list[float]]] = {}
    with flag_gems.use_gems(exclude=["zero_"]):
        for name, fn in spread_rows().items():
            values[name] = {timer: [] for timer in sessions}
            for turn in range(-WARM_TURNS, REPEATS):
                for timer, session in sessions.items():
                    request = TimedRequest(fn, warmup=5, rep=10, return_mode="median")
                    value = session.time(request)
                    if turn >= 0:
                        values[name][timer].append(value)
    return {"values_ms": values, "rows": {t: dict(s.facts.rows) for t, s in sessions.items()}}


def spread_rows() -> dict[str, Callable[[], Any]]:
    import torch

    def matrix(side: int) -> Any:
        return torch.randn(side, side, device="cuda", dtype=torch.float16)

    small, middle, large = matrix(64), matrix(1024), matrix(4096)
    return {
        "softmax 64x64": lambda: torch.softmax(small, 1),
        "softmax 1024x1024": lambda: torch.softmax(middle, 1),
        "gelu 1024x1024": lambda: torch.nn.functional.gelu(middle),
        "layer_norm 1024x1024": lambda: torch.nn.functional.layer_norm(middle, (1024,)),
        "softmax 4096x4096": lambda: torch.softmax(large, 1),
    }


def measure_aftermath() -> dict[str, Any]:
    """What ten refused captures cost the rows after them: guarded by the session, and not."""
    import torch
    import triton.testing

    from zlbench_core.timing.samples import TimedRequest

    row = refusing_row()
    found: dict[str, Any] = {"before": host_costs()}
    session = make_session("auto")
    for _ in range(10):
        session.time(TimedRequest(row, warmup=1, rep=2))
    found["guarded"] = {**host_costs(), "fallbacks": dict(session.facts.fallbacks), "draw": try_draw()}
    for _ in range(10):
        try:
            triton.testing.do_bench_cudagraph(row, rep=2)
        except RuntimeError as error:
            found["stock_error"] = str(error).splitlines()[0]
        torch.cuda.empty_cache()
    found["stock"] = {**host_costs(), "draw": try_draw()}
    return found


def refusing_row() -> Callable[[], Any]:
    """A backward pass on the default stream, which capture refuses, beside a tensor of 64 MiB."""
    import torch

    x = torch.randn(1024, 1024, device="cuda", requires_grad=True)
    y = torch.softmax(x, 1)
    gradient = torch.randn_like(y)

    def row() -> None:
        torch.empty(64 << 20, device="cuda", dtype=torch.int8)
        torch.autograd.grad((y,), [x], grad_outputs=(gradient,), retain_graph=True)

    return row


def host_costs() -> dict[str, float]:
    """Microseconds of an allocation from the cache (best of five loops), and MiB that stay reserved."""
    import torch

    torch.cuda.empty_cache()
    loops = []
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(10_000):
            torch.empty(1000, device="cuda")
        loops.append((time.perf_counter() - began) / 10_000 * 1e6)
    return {"allocation_us": min(loops), "reserved_mib": torch.cuda.memory_reserved() / 2**20}


def try_draw() -> str:
    import torch

    try:
        torch.rand(2, device="cuda").cpu()
    except RuntimeError as error:
        return str(error).splitlines()[0]
    return "works"


# What the tests and the plugin print, after pytest's progress characters; not the source in a traceback.
TOLD = re.compile(r"(?:^|[.sF ])((?:BENCHMARK_[A-Z_]+ node=|LATENCY \d).*)$", re.MULTILINE)
FATAL_HEAD = """
import torch, triton, triton.language as tl, triton.testing

x = torch.randn(1024, 1024, device="cuda")

@triton.jit
def store_at(pointer, offset):
    tl.store(pointer + tl.load(offset), 1.0)

near = torch.zeros(1, device="cuda", dtype=torch.int64)
far = torch.full((1,), 1 << 40, device="cuda", dtype=torch.int64)

def capturing():
    return torch.cuda.is_current_stream_capturing()

def latency(fn):
    value = triton.testing.do_bench(fn, warmup=5, rep=10, return_mode="median")
    print(f"LATENCY {value}")

def test_good():
    latency(lambda: x * 2)
"""
FATAL = {
    "illegal-access": """
def bad():
    store_at[(1,)](x, far if capturing() else near)
""",
    "illegal-access-at-once": """
def bad():
    store_at[(1,)](x, far)
""",
    "device-side-assert": """
index = torch.tensor([1 << 20], device="cuda")
def bad():
    x[index]
""",
    "out-of-memory": """
def bad():
    x.mul(2)
    if capturing():
        torch.empty(1 << 42, device="cuda", dtype=torch.int8)
""",
}
FATAL_TESTS = """
def test_fatal():
    latency(bad)

def test_last():
    latency(lambda: x * 2)
"""


def fatal(bench: Bench) -> list[dict[str, Any]]:
    return [fatal_process(bench, name, body) for name, body in FATAL.items()]


def fatal_process(bench: Bench, name: str, body: str) -> dict[str, Any]:
    folder = bench.out / "fatal" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test_fatal.py").write_text(FATAL_HEAD + body + FATAL_TESTS)
    argv = ["-m", "pytest", "test_fatal.py", "-s", *NO_CACHE, *TIMING]
    process = bench.start(f"fatal-{name}", argv, "auto", 40, cwd=folder)
    run = Path(process["run"])
    log = (run / "run.log").read_text(errors="replace")
    told = TOLD.findall(log)
    return {
        **process,
        "case": name,
        "markers": [line[:160] for line in told],
        "latencies_printed": sum(line.startswith("LATENCY") for line in told),
        "samples": len(timed_calls(run)),
        "summary": log.strip().splitlines()[-1] if log.strip() else "",
        "as_it_must_be": _fatal_is_right(told, log),
    }


def _fatal_is_right(told: list[str], log: str) -> bool:
    """One fatal row, told once; the row before it has a latency, the row after it has none and is skipped."""
    fatal_lines = [line for line in told if "BENCHMARK_FATAL" in line]
    latencies = [line for line in told if "LATENCY" in line]
    later = [line for line in told if "BENCHMARK_NOT_MEASURED" in line]
    return len(fatal_lines) == len(latencies) == len(later) == 1 and "1 failed, 1 passed, 1 skipped" in log


def device_facts() -> dict[str, Any]:
    code = (
        "import json,sys,torch,triton;from zlbench_core.backends import get_backend as g;b=g('cuda');"
        "print(json.dumps({'python':sys.version.split()[0],'torch':torch.__version__,'triton':triton.__version__,"
        "**b.process_device(),'listed':[repr(d) for d in b.enumerate_devices()]}))"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"error": done.stderr[-500:]}


def report(found: dict[str, Any]) -> str:
    parts = [
        "# The timer on a real GPU\n",
        f"`{json.dumps(found['device'])}`, {found['seconds']:.0f} s in all\n",
        _suite_tables(found.get("suites", [])),
        _softmax_table(found.get("softmax", {})),
        _spread_table(found.get("spread", {}).get("result")),
        _fatal_table(found.get("fatal", [])),
        _aftermath_table(found.get("aftermath", {}).get("result")),
    ]
    return "\n".join(part for part in parts if part)


def table(heads: list[str], rows: list[list[Any]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines) + "\n"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace("|", "/")


def _suite_tables(done: list[dict[str, Any]]) -> str:
    overview, rows = [], []
    for suite in done:
        counts = Counter(row["timer"] for row in suite["rows"])
        reasons = Counter(row["fallback"] for row in suite["rows"] if row["fallback"])
        why = "; ".join(f"{n} x {reason[:110]}" for reason, n in reasons.items())
        exits = f"{suite['auto']['exit']} / {suite['direct']['exit']}"
        overview.append([suite["op"], counts["cuda_graph"], counts["direct"], why, exits])
        for row in suite["rows"]:
            ratio = row["direct_us"] / row["captured_us"] if row["captured_us"] and row["direct_us"] else None
            size = (row["size"] or "")[:60]
            rows.append([row["test"], size, row["captured_us"], row["direct_us"], ratio, row["timer"]])
    heads = ["test", "size", "captured us", "direct us", "direct / captured", "timer of the auto run"]
    first = table(["op", "captured", "fell back", "why", "exits (auto / direct)"], overview)
    return f"## Rows, captured and direct\n\n{first}\n{table(heads, rows)}"


def _softmax_table(found: dict[str, Any]) -> str:
    rows = [
        [name, run.get("passed"), run.get("failed"), json.dumps(run.get("rows_by_op")), run.get("exit")]
        for name, run in found.items()
    ]
    heads = ["", "passed", "failed", "rows by op", "exit"]
    return f"## test_softmax.py whole, cudagraph mode\n\n{table(heads, rows)}"


def _spread_table(found: dict[str, Any] | None) -> str:
    rows = []
    for name, values in (found or {}).get("values_ms", {}).items():
        captured, direct = (
            (statistics.median(v) * 1e3, statistics.stdev(v) / statistics.mean(v))
            for v in (values["auto"], values["direct"])
        )
        ratio = direct[1] / captured[1] if captured[1] else None
        short = captured[0] < SHORT_US
        verdict = ("yes" if ratio is None or ratio >= 3 else "no") if short else "longer than 20 us"
        rows.append([name, captured[0], 100 * captured[1], direct[0], 100 * direct[1], ratio, verdict])
    heads = ["row", "captured us", "CV %", "direct us", "CV %", "direct CV / captured CV", "3x tighter"]
    return f"## Spread over {REPEATS} repeats\n\n{table(heads, rows)}"


def _fatal_table(found: list[dict[str, Any]]) -> str:
    rows = [
        [
            case["case"],
            case["as_it_must_be"],
            case["latencies_printed"],
            case["summary"],
            "<br>".join(case["markers"]),
        ]
        for case in found
    ]
    heads = ["case", "as it must be", "latencies printed", "pytest", "log"]
    return f"## Fatal rows, one process each\n\n{table(heads, rows)}"


def _aftermath_table(found: dict[str, Any] | None) -> str:
    rows = [
        [name, part["allocation_us"], part["reserved_mib"], part.get("draw", "")]
        for name, part in (found or {}).items()
        if isinstance(part, dict)
    ]
    heads = ["", "us an allocation", "MiB reserved", "a random draw"]
    return f"## After ten refused captures\n\n{table(heads, rows)}"


WORKERS = {"spread": measure_spread, "aftermath": measure_aftermath}


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--flaggems", type=Path, help="a FlagGems checkout")
    parser.add_argument("--out", type=Path, required=True, help="folder for the report and the runs")
    parser.add_argument("--budget", type=float, default=470, help="seconds for everything")
    parser.add_argument("--only", nargs="*", help="sections to run: softmax spread fatal aftermath suites")
    parser.add_argument("--worker", choices=WORKERS, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    args = parse_args()
    if args.worker:
        result = WORKERS[args.worker]()
        (args.out / "worker.json").write_text(json.dumps(result))
        return 0
    began = time.monotonic()
    bench = Bench(args.flaggems.resolve(), args.out.resolve(), began + args.budget)
    bench.out.mkdir(parents=True, exist_ok=True)
    sections: dict[str, Callable[[], Any]] = {
        "softmax": lambda: softmax_whole(bench),
        "fatal": lambda: fatal(bench),
        "aftermath": lambda: worker(bench, "aftermath", 40),
        "spread": lambda: worker(bench, "spread", 80),
        "suites": lambda: suites(bench),
    }
    found: dict[str, Any] = {"device": device_facts()}
    for name, section in sections.items():
        if not args.only or name in args.only:
            found[name] = section()
            found["seconds"] = time.monotonic() - began
            (bench.out / "report.json").write_text(json.dumps(found, indent=1, default=str))
            (bench.out / "report.md").write_text(report(found))
            print(f"{name}: done after {found['seconds']:.0f} s", flush=True)
    print(report(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
