"""What pytest itself writes into a log: section lines, error lines, the short summary, the closing line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from zlbench_core.results.rows import PytestSummary

_COUNT = r"\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun)"
_SUMMARY = re.compile(
    rf"=*\s?((?:{_COUNT}(?:, {_COUNT})*)|no tests ran|no tests collected[^=]*)"
    r" in ([\d.]+)s(?: \([\d:, day]+\))?\s?=*"
)
_SECTION = re.compile(r"=+ ([^=]+) =+")
_TEST_NAME = re.compile(r"_{3,} (\S.*\S|\S) _{3,}")
_STAGE = re.compile(r"^ERROR (?:collecting|at setup of|at teardown of) ")
_RC = re.compile(r"[.FEsxX]*rc=(\d{1,3})")
MAX_CHARS = 2000


def parse_summary(line: str) -> PytestSummary | None:
    """pytest's closing line with its counts, with -q (no frame) too."""
    match = _SUMMARY.fullmatch(line.strip()[:MAX_CHARS])
    if match is None:
        return None
    counts = dict(_counts(match.group(1)))
    return PytestSummary(
        passed=counts.get("passed", 0),
        failed=counts.get("failed", 0),
        errors=counts.get("error", 0) + counts.get("errors", 0),
        skipped=counts.get("skipped", 0),
        seconds=_seconds(match.group(2)),
    )


def _counts(text: str) -> Iterator[tuple[str, int]]:
    for part in text.split(", "):
        number, _, word = part.partition(" ")
        if number.isdigit() and len(number) < 10:
            yield word, int(number)


def _seconds(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def section_name(line: str) -> str | None:
    """`FAILURES` of `=== FAILURES ===`."""
    match = _SECTION.fullmatch(line.strip()[:MAX_CHARS])
    return match.group(1) if match else None


def test_name(line: str) -> str | None:
    """`test_mm` of `____ test_mm ____`, the heading of one failure; the path, where a file did not import."""
    match = _TEST_NAME.fullmatch(line.strip()[:MAX_CHARS])
    return _STAGE.sub("", match.group(1)) if match else None


def short_summary(line: str) -> tuple[str, str, str] | None:
    """(FAILED or ERROR, node, reason) of a line of the short test summary; the reason is often cut."""
    word, _, rest = line.strip()[:MAX_CHARS].partition(" ")
    node, _, reason = rest.partition(" - ")
    if word not in ("FAILED", "ERROR") or not (node.endswith(".py") or ".py::" in node):
        return None
    return word, node, reason


def wrapper_exit(line: str) -> int | None:
    """The exit code of a line `rc=N` that a wrapper script wrote, progress characters before it or not."""
    match = _RC.fullmatch(line.strip()[:MAX_CHARS])
    return int(match.group(1)) if match else None
