"""What the rows of a run really were: the part of its identity that the timer vouches for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from zlbench_core.timing.samples import DIRECT, TimedRequest

NOT_MEASURED = "not_measured"


@dataclass(frozen=True)
class Poison:
    """The row that ruined the process, whose fault it was (operator, device, environment), and its error."""

    seq: int
    node: str
    blame: str
    reason: str

    def __str__(self) -> str:
        return f"not measured (process poisoned by row {self.seq} of {self.node})"


@dataclass
class Facts:
    """Counts of rows by timer and of fallbacks by reason, and the budgets in ms that were asked for."""

    rows: Counter[str] = field(default_factory=Counter)
    fallbacks: Counter[str] = field(default_factory=Counter)
    warmups: set[float] = field(default_factory=set)
    reps: set[float] = field(default_factory=set)

    def asked(self, request: TimedRequest) -> None:
        self.warmups.add(request.warmup)
        self.reps.add(request.rep)

    def timer(self) -> str | None:
        """The timer that gave the rows; the direct one only where nothing else did. None without a row."""
        used = [name for name in self.rows if name not in (DIRECT, NOT_MEASURED)]
        return used[0] if used else (DIRECT if self.rows[DIRECT] else None)

    def measurement(self, direct_flushes: bool) -> dict[str, Any]:
        """`flush` is the policy of the timer that gave the rows; each row says its own in samples.jsonl."""
        known: dict[str, Any] = {
            "warmup_ms": _one_or_all(self.warmups),
            "iter_ms": _one_or_all(self.reps),
            "rows": dict(self.rows),
            "fallbacks": dict(self.fallbacks),
        }
        timer = self.timer()
        if timer is not None:
            known["flush"] = "l2" if timer == DIRECT and direct_flushes else "none"
        return known


def _one_or_all(values: set[float]) -> float | list[float] | None:
    return sorted(values) if len(values) > 1 else next(iter(values), None)
