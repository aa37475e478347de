"""A campaign's verdicts from what is stored of it, and from nothing else: the same store, the same verdicts."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from zlbench_core.campaign.looks import Looks
from zlbench_core.errors import ReadError
from zlbench_core.verdicts.campaign import decide_campaign
from zlbench_core.verdicts.model import OperatorVerdict, RowRounds
from zlbench_core.verdicts.operator import IR_STATES, decide_operator
from zlbench_core.verdicts.words import Verdict

RELEASED = "CALIBER MISMATCH RELEASED"
SEED = 0  # of the patterns that are drawn above 20 rounds


@dataclass(frozen=True)
class RowRound:
    """One row in one round: log(B/A), how far it moved over the round, both latencies in ms; None: no measurement.
    `first_side`: the side that was launched first, None where no run tells."""

    log_ratio: float | None = None
    span: float | None = None
    t_a_ms: float | None = None
    t_b_ms: float | None = None
    first_side: str | None = None


@dataclass(frozen=True)
class StoredRow:
    """One row over the rounds that were run. `batch`: the fewest launches between two clock readings."""

    dtype: str
    mode: str
    size: str
    occurrence: int
    batch: int
    rounds: tuple[RowRound, ...]

    def as_rounds(self, op: str) -> RowRounds:
        """The row as verdicts judge it; its latencies are medians over the rounds that count.

        Raises ReadError where one of those lacks a latency."""
        counted = [one for one in self.rounds if one.log_ratio is not None]
        spans = tuple(one.span for one in self.rounds)
        return RowRounds(
            op,
            self.dtype,
            self.mode,
            self.size,
            self.occurrence,
            log_ratios=tuple(one.log_ratio for one in self.rounds),
            t_a_ms=self._median(one.t_a_ms for one in counted),
            t_b_ms=self._median(one.t_b_ms for one in counted),
            batch=self.batch,
            spans=spans if any(span is not None for span in spans) else (),
            firsts=tuple(one.first_side for one in self.rounds),
        )

    def _median(self, latencies: Iterable[float | None]) -> float | None:
        told = list(latencies)
        known = [latency for latency in told if latency is not None]
        if len(known) < len(told):
            raise ReadError(f"{self.dtype} {self.mode} {self.size}: a round that counts lacks a latency")
        return statistics.median(known) if known else None


@dataclass(frozen=True)
class StoredOperator:
    """What is known of one operator. `ir`: what the gate found; `rows`: only those that are to be judged."""

    op: str
    ir: str | None
    first_stage: str | None
    looks: Looks
    refusals: tuple[str, ...] = ()
    exclusions: tuple[str, ...] = ()
    hazards: tuple[str, ...] = ()
    rows: tuple[StoredRow, ...] = ()


@dataclass(frozen=True)
class StoredCampaign:
    """`measured` False: the campaign only compiled. `released`: refusals are told, and numbers shown all the same."""

    alpha: float
    delta: float | None
    policy: str
    stopping: str
    seed: int
    measured: bool
    released: bool
    declared_axis: tuple[str, ...]
    sides: tuple[str, ...]
    operators: tuple[StoredOperator, ...]


def judge_stored(stored: StoredCampaign, judged: Sequence[OperatorVerdict] | None = None) -> dict[str, Any]:
    """The content of verdicts.json, less its frame. Pure: the same store gives the same bits.

    `judged` are the operators' own verdicts (judge_operator), where other processes made them already.
    """
    if judged is None:
        judged = [judge_operator(stored, operator) for operator in stored.operators]
    found = decide_campaign(judged, policy=stored.policy, alpha=stored.alpha).to_json()
    for document, operator in zip(found["operators"], stored.operators, strict=True):
        _annotate(document, operator, stored.released)
    return {
        **found,
        "seed": stored.seed,
        "stopping": stored.stopping,
        "declared_axis": list(stored.declared_axis),
        "sides": list(stored.sides),
        "allow_caliber_mismatch": stored.released,
    }


def judge_operator(stored: StoredCampaign, operator: StoredOperator) -> OperatorVerdict:
    """The verdict of one operator before its family is looked at; its `next_rounds` says whether rounds lack."""
    refusals = () if stored.released else operator.refusals
    if not refusals and len(stored.sides) == 1:
        return OperatorVerdict(operator.op, Verdict.UNDECIDED, "one side only: nothing is compared")
    if not refusals and operator.ir == "different" and not stored.measured:
        return OperatorVerdict(operator.op, Verdict.UNDECIDED, f"{_where(operator)}; not measured")
    return decide_operator(
        operator.op,
        [row.as_rounds(operator.op) for row in operator.rows],
        alpha=stored.alpha,
        delta=stored.delta,
        ir=operator.ir if operator.ir in IR_STATES else None,
        refusals=refusals,
        looks=operator.looks,
        seed=stored.seed,
    )


def _where(operator: StoredOperator) -> str:
    if operator.first_stage is None:
        return "code differs in which kernel variants there are"
    return f"code differs from {operator.first_stage} on"


def _annotate(document: dict[str, Any], operator: StoredOperator, released: bool) -> None:
    """Beside each verdict its reasons; beside each number that a released mismatch let through, that it did."""
    for name in ("refusals", "exclusions", "hazards"):
        document[name] = list(getattr(operator, name))
    note = RELEASED if released and operator.refusals else ""
    for part in (document, *document["rows"]):
        part["note"] = note
