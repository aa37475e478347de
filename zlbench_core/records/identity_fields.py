"""The fields of run_identity.json: everything that is said of one is said here, once.

A field without a default is in the identity of every run that came to its end; one that may be None, only in some.
The order is that in which `zlbench identity` shows those with a heading.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zlbench_core.records.described import apart, caliber, equal, may_differ
from zlbench_core.records.run_env import AUTOTUNE_MODES

SCHEMA_VERSION = 1

RUN, TUNING, DEVICE, ENVIRONMENT = "run", "tuning", "device", "environment"
PROVIDER, MEASUREMENT = "provider", "measurement"
# What the sides may be declared to differ in (Campaign.declared_axis): each variable by its name, or these.
VARIABLE, PYTHON, PROVIDER_DIR = "env", "python", "provider_dir"

_BY_PLACE = "says which run it is; judge/collect.py holds it against the run's place"
_BY_STATUS = "results/status.py judges it, run by run"


@dataclass(frozen=True, kw_only=True)
class Replay:
    """What became of the pins; of a run without any, how many keys it tuned by itself."""

    hits: int | None = may_differ("counts; the pins and the configs launched are compared", heading=TUNING)
    launches: int | None = may_differ("how often a timer launched within its time", heading=TUNING)
    fallbacks: dict[str, int] | None = apart("caliber/guard.py refuses every one", heading=TUNING)
    tuned_keys: int | None = apart("caliber/guard.py refuses sides that both tuned")
    unpinned: list[dict[str, Any]] | None = apart("the configs of launches that fell back, which is refused")
    used: list[dict[str, Any]] | None = apart("caliber/guard.py compares the config of each key")
    pins_digest: str | None = equal()
    keys_pinned: int | None = equal()
    recorded: dict[str, Any] | None = equal()
    foreign: int | None = may_differ(
        "counts pins that are no config of the tuner's own list; the configs launched are compared"
    )
    source_changed: list[str] | None = may_differ("the kernel's source is what the IR gate compares")
    unused: int | None = may_differ("counts; a launch without a pin is a fallback, which is refused")


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """How a record compiled ahead, and whether it dropped configs early."""

    workers: int
    pool: str
    early_drop: bool
    prefetch: bool


@dataclass(frozen=True, kw_only=True)
class Environment:
    """The software of the process, read back inside it."""

    python: str = equal(needed=True, heading=ENVIRONMENT, declared_by=PYTHON)
    torch: str = equal(needed=True, heading=ENVIRONMENT, declared_by=PYTHON)
    triton: str = equal(needed=True, heading=ENVIRONMENT, declared_by=PYTHON)
    precision: dict[str, bool | str] = equal(needed=True, heading=ENVIRONMENT)
    variables: dict[str, str] = equal(needed=True, heading=ENVIRONMENT, declared_by=VARIABLE)
    triton_build: str | None = equal(declared_by=PYTHON)
    executable: str = equal(declared_by=PYTHON)
    pytest: str = equal(declared_by=PYTHON)
    platform: str = equal(declared_by=PYTHON)
    cpu_threads: int = equal()


@dataclass(frozen=True, kw_only=True)
class Duet:
    """How a duet measured."""

    superblocks: int
    block_ms: float
    discard: int
    warm_up: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What a duet cost this side's device, in ms."""

    timed: float
    discarded: float
    warm_up: float


@dataclass(frozen=True, kw_only=True)
class Pair:
    """What one side of a duet spent and lost."""

    spent_ms: Spent
    void_superblocks: int
    lost_rows: list[str]


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """How rows were timed; budgets in ms, a list where a run had several."""

    mode: str = equal(needed=True, heading=MEASUREMENT)
    flush: str | None = equal(heading=MEASUREMENT, choices=("l2", "none"))
    rows: dict[str, int] | None = may_differ(
        "rows are paired one by one; a row that one side lacks is left out by name", heading=MEASUREMENT
    )
    fallbacks: dict[str, int] | None = may_differ(
        "judged row by row when rows are paired (results/fallbacks.py)", heading=MEASUREMENT
    )
    metrics: list[str] = equal()
    dtypes: list[str] = equal()
    timer_asked: str | None = equal()
    warmup_ms: float | list[float] | None = equal()
    iter_ms: float | list[float] | None = equal()
    protocol: str | None = equal(choices=("rounds", "duet"))
    duet: Duet | None = equal()
    pair: Pair | None = may_differ(
        "what the two processes of a duet spent and lost; a lost row is left out by name"
    )
    poisoned: dict[str, str] | None = equal()


@dataclass(frozen=True, kw_only=True)
class Archived:
    """What the IR archive holds."""

    variants: int
    stages: list[str]


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """What a run compiled that only compiles."""

    kernels: int
    configs: int
    failed: int


@dataclass(frozen=True, kw_only=True)
class Caches:
    """The tuner's and the compiler's caches; files are counted by cache."""

    isolated: bool
    database_url: str
    files_before: dict[str, int]
    files_after: dict[str, int]
    dropped: bool


@dataclass(frozen=True, kw_only=True)
class ClusterFix:
    """Configs that the device cannot launch, dropped while tuning, by kernel."""

    dropped: int
    kernels: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Identity:
    """What a run really used."""

    schema_version: int = apart("records/identity.py reads one", choices=(SCHEMA_VERSION,))
    op: str = equal(needed=True, heading=RUN)
    side: str = may_differ(_BY_PLACE, heading=RUN, choices=("a", "b"))
    round: int | None = may_differ(_BY_PLACE, heading=RUN)
    status: str = may_differ(
        "judge/collect.py and results/status.py judge it, run by run",
        heading=RUN,
        choices=("complete", "failed"),
    )
    failure: str | None = may_differ("the reason behind the status, in words", heading=RUN)
    pytest_exit: int | None = may_differ(_BY_STATUS, heading=RUN)
    timed_out: bool = may_differ(_BY_STATUS)
    started: str = may_differ(
        "two runs do not start at one moment; one moment for two runs is a copy, which judge/guards.py refuses",
        needed=True,
        heading=RUN,
    )
    ended: str = may_differ("two runs do not end at one moment", heading=RUN)
    order: int | None = may_differ(
        "the sides take turns, so their places in a round differ by design", choices=(0, 1)
    )
    declared: list[str] = may_differ("judge/judge.py holds it against the campaign's own")
    plan: str | None = may_differ("judge/guards.py holds it against the campaign's own")
    harness: str = equal(needed=True)
    digests: dict[str, str] = may_differ(
        "the runs measured other numbers; records/vouched.py holds them against the files",
        pattern="^[0-9a-f]{64}$",
    )
    backend: str = caliber()
    device: str = caliber()
    timer: str = caliber()
    bench_level: str = caliber(choices=("core", "comprehensive"))
    shape_mode: str = caliber(choices=("upstream", "inline", "file"))
    tuner_cache: str = caliber(pattern=r"^(isolated|shared\(.+\))$")
    direct_repeat: int = caliber(least=1)
    autotune_mode: str = apart(
        "caliber/guard.py knows which modes go together", heading=TUNING, choices=AUTOTUNE_MODES
    )
    replay: Replay | None
    tuning: Tuning | None = equal()
    mm_cluster_fix: ClusterFix | None = may_differ(
        "counts configs dropped while tuning; which config ran is told by the pins"
    )
    device_uuid: str | None = apart("caliber/guard.py: one device for the sides of a round", heading=DEVICE)
    driver: str | None = equal(heading=DEVICE)
    device_index: int | None = may_differ(
        "an index is renumbered by masks and reboots: device_uuid decides where there is one"
    )
    environment: Environment
    provider: str = equal(needed=True, heading=PROVIDER)
    provider_commit: str | None = equal(heading=PROVIDER, declared_by=PROVIDER_DIR)
    provider_dirty: bool | str | None = equal(heading=PROVIDER, declared_by=PROVIDER_DIR)
    test_node: str = equal(needed=True, heading=PROVIDER)
    measurement: Measurement
    ir: Archived | None = may_differ(
        "a summary of the run's IR archive; the gate compares the archives themselves"
    )
    compiled: Compiled | None = may_differ(
        "counts of a run that only compiled; the gate compares what it compiled"
    )
    caches: Caches | None = may_differ(
        "counts of files in the run's own caches; which cache it was, is the caliber's tuner_cache"
    )
