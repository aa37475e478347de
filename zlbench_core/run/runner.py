"""One benchmark process: its folder, argv, environment, time limit, exit, and what its identity vouches for."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from zlbench_core.backends import get_backend
from zlbench_core.campaign.model import RecordAsked
from zlbench_core.campaign.parts import Autotune, Duet
from zlbench_core.campaign.sides import DeclaredSide
from zlbench_core.common.files import write_json, write_text
from zlbench_core.errors import MachineError
from zlbench_core.providers import Invocation, get_provider
from zlbench_core.records import run_env
from zlbench_core.records.identity import init_identity, now, update_identity
from zlbench_core.records.vouched import file_digests
from zlbench_core.run.devices import Lease
from zlbench_core.run.environment import side_environment
from zlbench_core.run.plugin_plan import plan_plugins
from zlbench_core.run.source_digests import measuring_sources
from zlbench_core.run.tuner_caches import TunerCaches, tuner_caches

GRACE_SECONDS = 10
_FULL_DISK = (b"No space left on device", b"Disk quota exceeded")
_LOG_TAIL = 64 << 10

OnStart = Callable[[Callable[[], object]], None]


@dataclass(frozen=True)
class RunRequest:
    """One benchmark process that is asked for."""

    asked: RecordAsked
    side: DeclaredSide
    op: str
    out_dir: Path
    autotune_mode: str  # off | record | replay
    time_limit: int  # seconds
    round: int | None = None
    shard: tuple[int, int] = (0, 1)
    pins_dir: Path | None = None
    plan: str | None = None
    duet: Duet | None = None  # where the run is one side of a duet,
    duet_socket: Path | None = None  # and the coordinator's


def run_benchmark(request: RunRequest, lease: Lease, on_start: OnStart | None = None) -> dict[str, Any]:
    """Run it and return the finished identity. `on_start` gets a function that ends the process and its group.

    A benchmark that fails, crashes or hangs is a fact in the identity, not an exception. What the machine did to
    it is no fact about the operator: MachineError for a full disk, DeviceError for a device that is gone.
    """
    invocation = get_provider(request.asked.subject.provider).invocation(
        request.asked, request.side, request.op
    )
    fresh_folder(request.out_dir)
    argv = benchmark_argv(request, invocation)
    write_json(request.out_dir / "header.json", _header(request, invocation, argv))
    init_identity(request.out_dir, **_asked(request, invocation, lease))
    with tuner_caches(request.asked.tuning.tuner_cache, compiled=_compiled_by_shards(request)) as caches:
        env = benchmark_env(request, lease) | caches.env
        returncode, timed_out = _run_process(argv, invocation.cwd, env, request, lease, caches, on_start)
    update_identity(request.out_dir, caches=caches.state)
    identity = _finish(request, returncode, timed_out)
    if identity["failure"]:
        _blame_machine(request, lease)
    return identity


def _blame_machine(request: RunRequest, lease: Lease) -> None:
    if lease.device is not None:
        get_backend(request.asked.subject.backend).resolve_device(lease.device.uuid or lease.device.index)
    log = request.out_dir / "run.log"
    with open(log, "rb") as stream:
        stream.seek(max(0, log.stat().st_size - _LOG_TAIL))
        tail = stream.read()
    if any(words in tail for words in _FULL_DISK):
        raise MachineError(
            f"the disk was full during {request.out_dir}; make room and give the same command again"
        )


def not_run(request: RunRequest, lease: Lease, reason: str) -> dict[str, Any]:
    """The identity of a run that could not be started: failed, with the reason."""
    invocation = get_provider(request.asked.subject.provider).invocation(
        request.asked, request.side, request.op
    )
    fresh_folder(request.out_dir)
    init_identity(request.out_dir, **_asked(request, invocation, lease))
    write_text(request.out_dir / "run.log", reason + "\n")
    return update_identity(
        request.out_dir,
        status="failed",
        failure=reason,
        pytest_exit=None,
        ended=now(),
        digests=file_digests(request.out_dir),
    )


def fresh_folder(path: Path) -> None:
    """An empty folder at `path`; what an earlier run left there is gone before the new one starts."""
    for left in path.parent.glob(f".{path.name}.*"):  # a removal that was killed half way
        shutil.rmtree(left, ignore_errors=True)
    if path.exists():
        doomed = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        path.rename(doomed / path.name)
        shutil.rmtree(doomed)
    path.mkdir(parents=True)


def benchmark_argv(request: RunRequest, invocation: Invocation) -> list[str]:
    """The command line of the benchmark process."""
    plugins = plan_plugins(
        request.asked.subject.backend,
        enable_ir=request.autotune_mode != "record",
        enable_duet=request.duet_socket is not None,
    )
    loaded = [word for name in plugins for word in ("-p", name)]
    return [
        request.side.python,
        *("-m", "pytest", invocation.node, "-p", "no:cacheprovider", *loaded, *invocation.argv),
        *("--output", str(request.out_dir / "result.json")),
        *_metrics(request),
    ]


def _metrics(request: RunRequest) -> list[str]:
    """A torch baseline says nothing about A against B and costs device time; a record needs no timing at all."""
    if request.autotune_mode == "record":
        return ["--metrics", "latency", "--warmup", "0", "--iter", "1"]
    return ["--metrics", "latency"] if request.asked.subject.is_ab else []


def benchmark_env(request: RunRequest, lease: Lease) -> dict[str, str]:
    """The environment of the benchmark process, less its caches."""
    subject, timing = request.asked.subject, request.asked.timing
    env = side_environment(subject, request.side, lease.device)
    env |= {
        run_env.OUT_DIR: str(request.out_dir),
        run_env.AUTOTUNE_MODE: request.autotune_mode,
        run_env.SHARD: "{}/{}".format(*request.shard),
        run_env.TIMER: timing.timer,
        run_env.DIRECT_REPEAT: str(timing.direct_repeat),
        run_env.MEASURE: "1" if timing.measure else "0",
        run_env.DECLARED: ",".join(axis[4:] for axis in subject.declared_axis() if axis.startswith("env:")),
        "FLAGGEMS_PERF_CURRENT_OP": request.op,
        "PYTHONUNBUFFERED": "1",
        "PYTHONHASHSEED": "0",
    }
    if request.autotune_mode == "record":
        env |= _tuning_env(request)
    if request.duet_socket is not None:
        env |= {run_env.DUET_SOCKET: str(request.duet_socket), run_env.DUET_SIDE: request.side.name}
    return env | ({run_env.REPLAY_FROM: str(request.pins_dir)} if request.pins_dir else {})


def _tuning_env(request: RunRequest) -> dict[str, str]:
    """How a record compiles. Shards that may run at once share this machine's cores."""
    autotune = request.asked.tuning.autotune
    assert isinstance(autotune, Autotune), "a campaign that leaves the tuners alone records nothing"
    threads = autotune.compile_threads or max(1, available_cpus() // request.shard[1])
    pool = {} if autotune.compile_pool == "auto" else {run_env.COMPILE_POOL: autotune.compile_pool}
    early_drop = "1" if autotune.early_drop else "0"
    shared = _compiled_by_shards(request)
    claims = {} if shared is None else {run_env.SHARD_CLAIMS: str(shared / "claims")}
    return {run_env.COMPILE_THREADS: str(threads), run_env.EARLY_DROP: early_drop, **pool, **claims}


def _compiled_by_shards(request: RunRequest) -> Path | None:
    several = request.autotune_mode == "record" and request.shard[1] > 1
    return compiled_folder(request.out_dir) if several else None


def compiled_folder(shard_dir: Path) -> Path:
    """Where the shards of one record keep what they compile, until the record is published or discarded."""
    return shard_dir.parent / ".compiled"


def available_cpus() -> int:
    """The cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _asked(request: RunRequest, invocation: Invocation, lease: Lease) -> dict[str, Any]:
    """What is known before the process starts; its plugins replace what they read back inside it."""
    asked, side = request.asked, request.side
    subject, cache = asked.subject, asked.tuning.tuner_cache
    return {
        "provider": subject.provider,
        "op": request.op,
        "backend": subject.backend,
        "device_index": lease.device.index if lease.device else None,
        "bench_level": subject.level,
        "shape_mode": invocation.shape_mode,
        "tuner_cache": cache.replace("shared:", "shared(", 1) + ")"
        if cache.startswith("shared:")
        else "isolated",
        "test_node": invocation.node,
        "measurement": {
            "mode": asked.timing.mode,
            "dtypes": list(subject.dtypes),
            "metrics": _metrics(request)[1:2],
            **_protocol(request),
        },
        "side": side.name,
        "round": request.round,
        "declared": subject.declared_axis(),
        "plan": request.plan,
        "harness": measuring_sources(),
        "started": now(),
        **get_provider(subject.provider).facts(side, subject.suite_dirs),
    }


def _protocol(request: RunRequest) -> dict[str, Any]:
    """How the sides were timed; a record, which is compared with nothing, has no protocol."""
    if request.duet is None:
        return {} if request.autotune_mode == "record" else {"protocol": "rounds"}
    told = {name: value for name, value in asdict(request.duet).items() if name != "patience"}
    return {"protocol": "duet", "duet": told}


def _header(request: RunRequest, invocation: Invocation, argv: list[str]) -> dict[str, Any]:
    return {
        "op": request.op,
        "side": request.side.declared(),
        "round": request.round,
        "argv": argv,
        "cwd": str(invocation.cwd),
        "autotune_mode": request.autotune_mode,
        "shard": list(request.shard),
        "campaign": request.asked.to_json(),
    }


def _run_process(
    argv: list[str],
    cwd: Path,
    env: dict[str, str],
    request: RunRequest,
    lease: Lease,
    caches: TunerCaches,
    on_start: OnStart | None,
) -> tuple[int, bool]:
    with open(request.out_dir / "run.log", "wb") as log:
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            # The child inherits the locks: while an orphan still uses device and caches, they are held.
            pass_fds=(*lease.descriptors(), *caches.descriptors),
        )
        try:
            lease.name_benchmark(process.pid)
            if on_start is not None:
                on_start(lambda: _end_group(process))
            return process.wait(timeout=request.time_limit), False
        except subprocess.TimeoutExpired:
            return _end_group(process), True
        finally:
            # Whatever the process started and left would hold the device and disturb the next run.
            _end_group(process)


def _end_group(process: subprocess.Popen[bytes]) -> int:
    """End the process and all that it started; its exit status."""
    with suppress(ProcessLookupError, subprocess.TimeoutExpired):
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=GRACE_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def _finish(request: RunRequest, returncode: int, timed_out: bool) -> dict[str, Any]:
    failure = _failure(returncode, timed_out, request.time_limit)
    return update_identity(
        request.out_dir,
        status="failed" if failure else "complete",
        failure=failure,
        pytest_exit=returncode,
        timed_out=timed_out,
        ended=now(),
        digests=file_digests(request.out_dir),
    )


def _failure(returncode: int, timed_out: bool, limit: int) -> str | None:
    if timed_out:
        return f"timeout: ended after {limit} s"
    if returncode < 0:
        killed = " (out of memory, or killed from outside)" if returncode == -signal.SIGKILL else ""
        return f"crashed: signal {signal.Signals(-returncode).name}{killed}"
    return f"pytest exit {returncode}" if returncode else None
