"""What a log says, before it is compared with what the JSON says."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from zlbench_core.results.rows import BlockKey, Failure, PytestSummary, Row

MAX_LISTED = 200


@dataclass
class LogReport:
    """`table` holds the printed rows (rounded), `records` the rows of `[INFO] {...}` lines (all digits).

    `begun` names each table that has a title, rows or not; `block_markers` the fallbacks that were printed
    since the table before it; `lost` counts what could not be read, by sentence.
    """

    table: list[Row] = field(default_factory=list)
    records: list[Row] = field(default_factory=list)
    begun: list[BlockKey] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    markers: Counter[str] = field(default_factory=Counter)
    block_markers: dict[BlockKey, list[str]] = field(default_factory=dict)
    redefined: dict[str, str] = field(default_factory=dict)
    lost: Counter[str] = field(default_factory=Counter)
    summary: PytestSummary | None = None
    sessions: int = 0
    exit_code: int | None = None

    def fail(self, failure: Failure) -> None:
        if len(self.failures) < MAX_LISTED:
            self.failures.append(failure)
        else:
            self.lose(f"failures beyond the first {MAX_LISTED} were left out")

    @property
    def never_started(self) -> bool:
        """pytest said why it could not start: such a log has no closing line and does not break off."""
        return not self.sessions and not self.begun and any(one.kind == "error" for one in self.failures)

    def lose(self, what: str) -> None:
        if what in self.lost or len(self.lost) < MAX_LISTED:
            self.lost[what] += 1

    @property
    def notes(self) -> list[str]:
        notes = [f"log: {what} ({count} x)" for what, count in self.lost.items()]
        notes += [f"{op}: columns are not torch/gems: {why}" for op, why in self.redefined.items()]
        if self.sessions > 1:
            notes.append(f"log: it holds {self.sessions} pytest sessions")
        return notes
