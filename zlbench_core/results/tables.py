"""The columns of a campaign's tables: summary.csv, ops_status.csv, ab.csv, code.csv. docs/tables.md shows the same."""

from __future__ import annotations

from zlbench_core.results.columns import COUNTS, LIST, REAL, TEXT, WHOLE, Column, Table

_BACKEND = Column("backend", TEXT, "the backend by its name in `zlbench devices`", known=True)
_DEVICE = Column(
    "device", TEXT, "the model that the run really used; `cpu-interpreter/cuda:90` where nothing ran on a GPU"
)
_TIMER = Column("timer", TEXT, "the timer as really used: cuda_graph, direct, do_bench_npu")
_OP = Column("op", TEXT, "the operator as the campaign names it", known=True, heading="operator")
_ROW = (
    Column("dtype", TEXT, "as the suite prints it: `torch.float16`", known=True),
    Column("mode", TEXT, "as the suite prints it: `kernel`"),
    Column(
        "size",
        TEXT,
        'the row\'s arguments as JSON: `[[64, 64], {"dim": -1}]`; the same text from a log and from a JSON',
        known=True,
    ),
    Column(
        "occurrence",
        WHOLE,
        "counts rows of equal op, dtype, mode and size from 0: the suite yields BLAS shapes twice",
        known=True,
    ),
)
_FG_OP_NAME = Column(
    "fg_op_name", TEXT, "the operator as the suite's rows name it; one test may hold several", known=True
)
_NOTE = Column("note", TEXT, "what must be known before the line is quoted; empty where nothing must")

SUMMARY = Table(
    "summary",
    (
        _BACKEND,
        _DEVICE,
        _TIMER,
        _FG_OP_NAME,
        _OP,
        *_ROW,
        Column("rounds", WHOLE, "the rounds that count for this line", known=True),
        Column(
            "latency_torch_ms",
            REAL,
            "one-sided campaigns: torch's latency; empty in an A/B, which does not time torch",
            "ms",
        ),
        Column(
            "latency_a_ms",
            REAL,
            "side a's latency (of one side alone: that side's), the median over the rounds",
            "ms",
        ),
        Column("speedup", REAL, "one-sided campaigns: torch's latency over this side's; empty in an A/B"),
        Column("latency_b_ms", REAL, "side b's latency, likewise", "ms"),
        Column(
            "ratio",
            REAL,
            "b over a, the geometric mean of the rounds' ratios, which is the row's ratio in `verdicts.json` and "
            "`report.html`: below 1, b is faster. It is not the quotient of the two medians",
        ),
        Column("ratio_min", REAL, "the smallest of the rounds' ratios"),
        Column("ratio_max", REAL, "the largest of the rounds' ratios"),
        Column(
            "fallback",
            TEXT,
            "the fallback markers that any of the counted rows carries; empty where none does",
        ),
        _NOTE,
    ),
)

STATUS = Table(
    "ops_status",
    (
        _BACKEND,
        _DEVICE,
        Column("gpu", TEXT, "the UUID of the device"),
        _TIMER,
        _OP,
        Column("side", TEXT, "a or b", known=True),
        Column("status", TEXT, "see below; of several rounds the worst", known=True),
        Column(
            "reason",
            TEXT,
            "one line: the failure's type and cause, what is missing, how far a stopped run came; then the run's log",
            heading="why",
        ),
        Column("pytest_exit", WHOLE, "pytest's own exit code, negative for a signal"),
        Column("rows", WHOLE, "rows that were read", known=True),
        Column(
            "partial_dtypes", LIST, "`op: dtype` for each dtype that was asked for or begun and has no row"
        ),
        Column("markers", COUNTS, "how often each marker was printed"),
        Column("rounds", WHOLE, "how many runs the line stands for", known=True),
        Column(
            "notes",
            LIST,
            "what the readers noted, at most ten notes: entries of another run in a merged JSON, log and JSON that "
            "disagree",
            young=True,
        ),
    ),
)

AB = Table(
    "ab",
    (
        _OP,
        _FG_OP_NAME,
        *_ROW,
        Column("round", WHOLE, "the round", known=True),
        Column(
            "order", TEXT, "which side ran first in it (in a duet: was launched first): ab or ba", known=True
        ),
        Column("latency_a_ms", REAL, "side a's latency in the round", "ms"),
        Column("latency_b_ms", REAL, "side b's latency in the round", "ms"),
        Column("ratio", REAL, "b over a"),
        Column("marker_a", TEXT, "the fallback markers of the row on side a"),
        Column("marker_b", TEXT, "the fallback markers of the row on side b"),
        _NOTE,
    ),
)

_VARIANTS = (
    Column("op", TEXT, "the operator", known=True),
    Column("finding", TEXT, "`code changed`, `no code change` or `unknown`", known=True),
    Column("first_stage", TEXT, "the first stage that differs, over all variants"),
    Column("variants", WHOLE, "kernel variants that either side compiled", known=True),
    Column("changed", WHOLE, "those that differ", known=True),
    Column("only_in_a", WHOLE, "variants of side a alone", known=True),
    Column("only_in_b", WHOLE, "variants of side b alone", known=True),
)
COSTS = ("registers", "spills", "instructions")
_REASON = Column("reason", TEXT, "why it is unknown, or that no kernel has a counterpart on the other side")

CODE = Table(
    "code",
    (
        *_VARIANTS,
        Column("only_locations", WHOLE, "variants whose text differs only in where the source stood"),
        *(
            Column(
                f"{name}_{end}",
                WHOLE,
                f"the {told} change b - a over the variants that differ; empty where one is not known",
            )
            for name in COSTS
            for end, told in (("min", "smallest"), ("max", "largest"))
        ),
        _REASON,
    ),
)

TABLES = (SUMMARY, STATUS, AB, CODE)

# What of them is printed, where that is not all.
STATUS_SHOWN = Table(
    "statuses",
    (
        *(STATUS[name] for name in ("op", "side", "status")),
        Column("speedup", REAL, "torch's latency over the operator's, the geometric mean of its rows"),
        *(STATUS[name] for name in ("rows", "rounds", "partial_dtypes", "markers", "reason")),
    ),
)
CODE_SHOWN = Table(
    "code as printed",
    (
        *_VARIANTS[:5],
        Column("only_in_a", WHOLE, "variants of side a alone; none is not told"),
        Column("only_in_b", WHOLE, "variants of side b alone; none is not told"),
        *(Column(name, TEXT, f"change of {name}, b - a, from the smallest to the largest") for name in COSTS),
        _REASON,
    ),
)
