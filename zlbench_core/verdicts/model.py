"""The records of a verdict: the rounds of a row go in, a row's and an operator's verdict come out."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from zlbench_core.campaign.looks import Looks
from zlbench_core.errors import ReadError
from zlbench_core.verdicts.words import CLAIMS, Verdict

RowKey = tuple[str, str, str, int]


@dataclass(frozen=True)
class RowRounds:
    """One row (operator, dtype, mode, size, occurrence) over the rounds of a campaign.

    `log_ratios` has one entry a round: the mean of log(B/A) over the round's superblocks, None where
    either side has no measurement. `spans` (optional, same length) is how far log(B/A) moved from the first
    to the last superblock of the round. `firsts` (optional, same length): the side that was launched first,
    None where that is not known. `t_a_ms`, `t_b_ms`: the typical latency of each side in
    milliseconds, None when no round measured the row. `batch`: launches between two clock readings.
    Raises ReadError for a value that is none of this.
    """

    op: str
    dtype: str
    mode: str
    size: str
    occurrence: int
    log_ratios: tuple[float | None, ...]
    t_a_ms: float | None
    t_b_ms: float | None
    batch: int = 1
    spans: tuple[float | None, ...] = ()
    firsts: tuple[str | None, ...] = ()

    def __post_init__(self) -> None:
        for name in ("log_ratios", "spans"):
            for number, value in enumerate(getattr(self, name), start=1):
                if value is not None and not math.isfinite(value):
                    raise ReadError(
                        f"{self.label}: {name} of round {number} is {value}; a finite number or null"
                    )
        for name in ("spans", "firsts"):
            given = getattr(self, name)
            if given and len(given) != len(self.log_ratios):
                raise ReadError(f"{self.label}: {len(given)} {name} for {len(self.log_ratios)} rounds")
        for first in self.firsts:
            if first not in ("a", "b", None):
                raise ReadError(f"{self.label}: firsts holds {first!r}; a, b or null is expected")
        if self.batch < 1:
            raise ReadError(f"{self.label}: batch is {self.batch}; 1 or more launches are expected")
        if self.counted:
            self._check_latencies()

    def _check_latencies(self) -> None:
        for name in ("t_a_ms", "t_b_ms"):
            value = getattr(self, name)
            if value is None or not math.isfinite(value) or value <= 0:
                raise ReadError(f"{self.label}: {name} is {value}; milliseconds above 0 are expected")

    @property
    def key(self) -> RowKey:
        return (self.dtype, self.mode, self.size, self.occurrence)

    @property
    def label(self) -> str:
        return f"{self.op} {self.dtype} {self.mode} {self.size} #{self.occurrence}"

    @property
    def counted(self) -> int:
        """In how many rounds both sides measured the row."""
        return sum(value is not None for value in self.log_ratios)

    def first_rounds(self, count: int) -> RowRounds:
        if count >= len(self.log_ratios):
            return self
        cut = {name: getattr(self, name)[:count] for name in ("log_ratios", "spans", "firsts")}
        return replace(self, **cut)


@dataclass(frozen=True)
class Evidence:
    """What the rounds say of one row or one operator, before anybody judges it. Logs are of the ratio B/A."""

    rounds_run: int
    rounds: int
    theta: float | None
    sd: float | None
    first_side: float | None
    ci: tuple[float, float] | None
    same_ci: tuple[float, float] | None
    p_rounds: float
    p: float
    delta: float
    drift: str | None
    looks: Looks

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; ratios are B/A latency, so below 1 is faster. `sd_log` is of one round.
        `first_over_second`: the latency of the side that was launched first over the other's."""
        return {
            "rounds_run": self.rounds_run,
            "rounds": self.rounds,
            "ratio": None if self.theta is None else math.exp(self.theta),
            "ratio_ci": _ratios(self.ci),
            "ratio_same_ci": _ratios(self.same_ci),
            "sd_log": self.sd,
            "first_over_second": None if self.first_side is None else math.exp(self.first_side),
            "p_rounds": self.p_rounds,
            "p": self.p,
            "delta": self.delta,
            "drift": self.drift,
        }


@dataclass(frozen=True)
class RowVerdict:
    row: RowRounds
    verdict: Verdict
    detail: str
    rounds_needed: int | None
    evidence: Evidence
    adjusted_p: float

    def to_json(self) -> dict[str, Any]:
        row = self.row
        return {
            "dtype": row.dtype,
            "mode": row.mode,
            "size": row.size,
            "occurrence": row.occurrence,
            "t_a_ms": row.t_a_ms,
            "t_b_ms": row.t_b_ms,
            "verdict": self.verdict.value,
            "detail": self.detail,
            "rounds_needed": self.rounds_needed,
            "adjusted_p": self.adjusted_p,
            **self.evidence.to_json(),
        }


@dataclass(frozen=True)
class OperatorVerdict:
    """The verdict of one operator. REFUSED and VOID carry no number at all.

    `placebo` is set for NO CODE CHANGE with measured rows: what would have been said had the code differed.
    `next_rounds` is how many further rounds can still decide (0: none can).
    """

    op: str
    verdict: Verdict
    detail: str = ""
    reasons: tuple[str, ...] = ()
    rounds_needed: int | None = None
    next_rounds: int = 0
    adjusted_p: float | None = None
    evidence: Evidence | None = None
    rows: tuple[RowVerdict, ...] = ()
    excluded: tuple[str, ...] = ()
    placebo: OperatorVerdict | None = None

    @property
    def dissent(self) -> dict[str, int]:
        """How many rows claim something else than the operator: a mean can hide a row that got slower."""
        claims = [row.verdict for row in self.rows if row.verdict in CLAIMS and row.verdict != self.verdict]
        return {claim.value: claims.count(claim) for claim in CLAIMS if claim in claims}

    def to_json(self) -> dict[str, Any]:
        return {
            "op": self.op,
            "verdict": self.verdict.value,
            "detail": self.detail,
            "reasons": list(self.reasons),
            "rounds_needed": self.rounds_needed,
            "next_rounds": self.next_rounds,
            "adjusted_p": self.adjusted_p,
            "evidence": None if self.evidence is None else self.evidence.to_json(),
            "looks": None if self.evidence is None else asdict(self.evidence.looks),
            "rows": [row.to_json() for row in self.rows],
            "dissent": self.dissent,
            "excluded": list(self.excluded),
            "placebo": None if self.placebo is None else self.placebo.to_json(),
        }


def _ratios(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else [math.exp(bound) for bound in interval]
