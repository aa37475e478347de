"""Compares two runs that already exist, and refuses where they stand on different calibers.

A door for callers of the first zl_bench; the chain never goes through it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from zlbench_core.errors import CaliberMismatch, IdentityError
from zlbench_core.records.identity import load_identity
from zlbench_core.results.fallbacks import exclusion
from zlbench_core.results.pairing import PairedRow, pair_rows
from zlbench_core.results.reader import LOG_NAME, read_run
from zlbench_core.results.rows import Row, RunResult


def report_ab(a_log: Path | str, b_log: Path | str, op: str, strict: bool = True) -> list[PairedRow]:
    """The rows of operator `op` that both runs measured, paired; each has `.a`, `.b` and `.ratio` (b over a).

    `a_log` and `b_log` are the runs' logs, or the folders that hold them, run_identity.json and, where the
    suite wrote it, result.json. Raises CaliberMismatch, with every complaint, where the runs are not
    comparable; with `strict=False` the complaints go to stderr as `!!! [caliber] ...` and the rows are
    returned all the same. Rows that are not paired are named on stderr. Raises ReadError where a run cannot
    be read.
    """
    logs = [path / LOG_NAME if path.is_dir() else path for path in (Path(a_log), Path(b_log))]
    _report_caliber([("a", logs[0].parent), ("b", logs[1].parent)], op, strict=strict)
    a, b = (read_run(log.parent, log_name=log.name) for log in logs)
    pairing = pair_rows(_of_op(a, logs[0].parent, op), _of_op(b, logs[1].parent, op))
    excluded = {pair.a.key: why for pair in pairing.paired if (why := _exclusion(pair, a, b))}
    _say("partial", _unfinished(a, b))
    _say("rows", [f"{row.op} {row.dtype} {row.size}: only in a" for row in pairing.only_a])
    _say("rows", [f"{row.op} {row.dtype} {row.size}: only in b" for row in pairing.only_b])
    _say("rows", [str(refusal) for refusal in pairing.refused])
    _say("rows", [f"{key[0]} {key[1]} {key[3]}: {why}" for key, why in excluded.items()])
    return [pair for pair in pairing.paired if pair.a.key not in excluded]


def _report_caliber(runs: Sequence[tuple[str, Path]], op: str, strict: bool = True) -> list[str]:
    """What makes the runs of `op`, by label, incomparable, told on stderr. Raises CaliberMismatch where `strict`."""
    from zlbench_core.caliber.guard import caliber_complaints

    complaints = list(caliber_complaints(runs))
    if complaints and strict:
        raise CaliberMismatch(f"{op}: {'; '.join(complaints)}")
    _say("caliber", complaints)
    return complaints


def _say(topic: str, sentences: Sequence[str]) -> None:
    for sentence in sentences:
        print(f"!!! [{topic}] {sentence}", file=sys.stderr)


def _of_op(result: RunResult, run_dir: Path, op: str) -> list[Row]:
    """The operator's rows. Where the suite's rows call it by another name, the run's identity decides."""
    own = [row for row in result.rows if row.op == op]
    return own or (list(result.rows) if _is_run_of(run_dir, op) else [])


def _is_run_of(run_dir: Path, op: str) -> bool:
    try:
        return load_identity(run_dir).get("op") == op
    except IdentityError:
        return False


def _exclusion(pair: PairedRow, a: RunResult, b: RunResult) -> str | None:
    return exclusion(a.row_markers.get(pair.a.key, ()), b.row_markers.get(pair.b.key, ()))


def _unfinished(a: RunResult, b: RunResult) -> list[str]:
    return [sentence for side, run in (("a", a), ("b", b)) for sentence in _why_unfinished(side, run)]


def _why_unfinished(side: str, run: RunResult) -> Iterator[str]:
    if run.cut_off:
        yield f"{side}: the log breaks off"
    for missing in run.partial_dtypes:
        yield f"{side}: no rows of {missing}"
    for failure in run.failures:
        yield f"{side}: {failure.node or failure.op or failure.kind}: {failure.message}"
