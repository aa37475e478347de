"""How an operator's run ended: one word and the reason, from what the run left behind. Pure functions.

ok        finished green, every asked dtype has rows with a latency
skipped   the suite skipped it
partial   some rows are there, not all that were asked for
no_data   green, and still nothing was measured
no_pins   a replay in which no launch had a pin
failed    no row, and pytest or the suite says why
timeout   stopped by the time limit
crashed   the process died, or something that is not the operator's fault stopped it
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zlbench_core.results.rows import FAILED as ROW_FAILED
from zlbench_core.results.rows import Failure, RunResult

OK, PARTIAL, FAILED, CRASHED = "ok", "partial", "failed", "crashed"
TIMEOUT, SKIPPED, NO_DATA, NO_PINS = "timeout", "skipped", "no_data", "no_pins"
STATUSES = (OK, SKIPPED, PARTIAL, NO_DATA, NO_PINS, FAILED, TIMEOUT, CRASHED)  # from best to worst

_TIMEOUT_EXIT = 124  # what timeout(1) exits with, and the runner records
_PYTEST_EXITS = {2: "interrupted", 3: "internal error of pytest", 4: "pytest could not start"}
_INTERRUPTED, _INTERNAL, _USAGE, _NO_TESTS = 2, 3, 4, 5  # a file that does not import interrupts pytest too


@dataclass(frozen=True)
class OperatorStatus:
    status: str
    reason: str


def operator_status(
    result: RunResult | None, identity: Mapping[str, Any] | None = None, *, measured: bool = True
) -> OperatorStatus:
    """The status of one run. `result` is None where the folder could not be read at all.

    `identity` gives pytest's exit (`pytest_exit`), `timed_out` and the replay's counts; without it the log's
    own `rc=N` line stands in. `measured=False` is a compile-only run, which has no rows by design.
    """
    if result is None:
        return OperatorStatus(CRASHED, "the run left nothing that can be read")
    identity = identity or {}
    exit_code = _exit_code(result, identity)
    return (
        _stopped(result, identity, exit_code)
        or _without_pins(identity)
        or (_green(result, identity, measured) if _is_green(result, exit_code) else _red(result, exit_code))
    )


def _exit_code(result: RunResult, identity: Mapping[str, Any]) -> int | None:
    code = identity.get("pytest_exit")
    return code if isinstance(code, int) and not isinstance(code, bool) else result.exit_code


def _stopped(result: RunResult, identity: Mapping[str, Any], exit_code: int | None) -> OperatorStatus | None:
    """Runs that did not come to their end, or whose failure is not the operator's."""
    if identity.get("timed_out") is True or exit_code == _TIMEOUT_EXIT:
        return OperatorStatus(TIMEOUT, f"stopped by the time limit {_progress(result)}")
    if exit_code is not None and (exit_code < 0 or exit_code >= 128):
        signal = -exit_code if exit_code < 0 else exit_code - 128
        return OperatorStatus(CRASHED, f"killed by signal {signal} {_progress(result)}")
    for failure in result.failures:
        if failure.kind in ("crash", "infrastructure"):
            return OperatorStatus(CRASHED, f"{failure.kind}: {failure.message}")
    if exit_code == _INTERNAL or (exit_code == _INTERRUPTED and not result.failures):
        return OperatorStatus(CRASHED, f"{_PYTEST_EXITS[exit_code]} {_progress(result)}")
    if result.cut_off and exit_code != _USAGE:
        return OperatorStatus(CRASHED, f"the log breaks off {_progress(result)}")
    return None


def _progress(result: RunResult) -> str:
    if not result.rows:
        return "before the first row"
    return f"after {len(result.rows)} rows ({', '.join(result.dtypes)})"


def _without_pins(identity: Mapping[str, Any]) -> OperatorStatus | None:
    replay = identity.get("replay")
    if identity.get("autotune_mode") != "replay" or not isinstance(replay, Mapping):
        return None
    fallbacks = replay.get("fallbacks")
    fallbacks = fallbacks if isinstance(fallbacks, Mapping) else {}
    if not any(fallbacks.values()) or replay.get("hits"):
        return None
    counted = ", ".join(f"{reason} {count}" for reason, count in sorted(fallbacks.items()))
    return OperatorStatus(NO_PINS, f"no launch had a pin: {counted}")


def _is_green(result: RunResult, exit_code: int | None) -> bool:
    if result.failures or exit_code not in (None, 0):
        return False
    summary = result.pytest_summary
    return summary is None or not (summary.failed or summary.errors)


def _green(result: RunResult, identity: Mapping[str, Any], measured: bool) -> OperatorStatus:
    skipped = bool(result.skipped) or bool(result.pytest_summary and result.pytest_summary.skipped)
    if not result.rows and skipped and not (result.pytest_summary and result.pytest_summary.passed):
        return OperatorStatus(SKIPPED, "; ".join(result.skipped[:3]) or "skipped, no reason given")
    if not measured:
        return _compiled(identity.get("ir"))
    usable = sum(row.usable for row in result.rows)
    if not usable:
        return OperatorStatus(NO_DATA, "finished green without " + ("a latency" if result.rows else "a row"))
    if result.partial_dtypes:
        return OperatorStatus(PARTIAL, f"no rows of {', '.join(result.partial_dtypes)}")
    missing = len(result.rows) - usable
    if missing and not _all_lost_to_the_partner(result, identity, missing):
        return OperatorStatus(PARTIAL, f"{missing} of {len(result.rows)} rows have no latency")
    return OperatorStatus(OK, f"{missing} of {len(result.rows)} rows are lost" if missing else "")


def _all_lost_to_the_partner(result: RunResult, identity: Mapping[str, Any], missing: int) -> bool:
    """Whether the rows without a latency are those that a duet lost, and this side failed in none of them."""
    lost = lost_rows(identity)
    return missing <= len(lost) and not any(row.status == ROW_FAILED for row in result.rows)


def lost_rows(identity: Mapping[str, Any]) -> list[str]:
    """The rows that a duet lost, each with its reason, as this side's identity names them."""
    found: Any = identity
    for name in ("measurement", "pair", "lost_rows"):
        found = found.get(name) if isinstance(found, Mapping) else None
    return [str(line) for line in found] if isinstance(found, list) else []


def _compiled(captured: Any) -> OperatorStatus:
    """A compile-only run that came to its end; `captured` is the identity's count of what it compiled."""
    if isinstance(captured, Mapping) and captured.get("variants") == 0:
        return OperatorStatus(NO_DATA, "finished green without compiling a kernel")
    return OperatorStatus(OK, "compiled, not measured")


def _red(result: RunResult, exit_code: int | None) -> OperatorStatus:
    if exit_code == _NO_TESTS and not result.rows:
        return OperatorStatus(NO_DATA, "pytest collected no test")
    why = _first_reason(result.failures) or _PYTEST_EXITS.get(exit_code or 0) or f"pytest exited {exit_code}"
    if exit_code == _USAGE and why != _PYTEST_EXITS[_USAGE]:
        why = f"{_PYTEST_EXITS[_USAGE]}: {why}"
    if not result.rows:
        return OperatorStatus(FAILED, why)
    missing = f"no rows of {', '.join(result.partial_dtypes)}; " if result.partial_dtypes else ""
    failed = sum(row.status == ROW_FAILED for row in result.rows)
    rows = f"{len(result.rows)} rows" + (f", {failed} failed" if failed else "")
    return OperatorStatus(PARTIAL, f"{missing}{rows} ({', '.join(result.dtypes)}), then: {why}")


def _first_reason(failures: tuple[Failure, ...]) -> str:
    ordered = sorted(failures, key=lambda failure: failure.kind == "event")
    return next((failure.message for failure in ordered if failure.message), "")
