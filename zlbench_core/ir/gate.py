"""ir_gate.json: whether the sides of an operator run different code at all, before more rounds are run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zlbench_core.files import write_json
from zlbench_core.ir.compare import DIFFERENT, IDENTICAL, GateResult, Pair, compare_archives

SCHEMA_VERSION = 1
NO_IR_DIFF = "SWITCH_NO_IR_DIFF"


def gate(
    op: str,
    a_dirs: Sequence[Path | str],
    b_dirs: Sequence[Path | str],
    out_path: Path | str,
    allow_no_diff: bool = False,
) -> dict[str, Any]:
    """Compare the archives of both sides, write the answer to `out_path` and return it.

    `measure` says whether the remaining rounds are worth running: yes for a difference, for equal code only
    with `allow_no_diff`. The verdict "unknown" is written like the others, with its reason; the caller must
    fail on it.
    """
    result = compare_archives(a_dirs, b_dirs)
    document = gate_document(op, result, a_dirs, b_dirs, allow_no_diff)
    write_json(out_path, document)
    return document


def gate_document(
    op: str,
    result: GateResult,
    a_dirs: Sequence[Path | str],
    b_dirs: Sequence[Path | str],
    allow_no_diff: bool,
) -> dict[str, Any]:
    identical = result.verdict == IDENTICAL
    return {
        "schema_version": SCHEMA_VERSION,
        "status": "complete",
        "op": op,
        "verdict": result.verdict,
        "reason": result.reason,
        "marker": NO_IR_DIFF if identical else None,
        "allow_no_diff": allow_no_diff,
        "measure": result.verdict == DIFFERENT or (identical and allow_no_diff),
        "first_stage": result.first_stage,
        "sides": {"a": [str(path) for path in a_dirs], "b": [str(path) for path in b_dirs]},
        "variants": [_variant(pair) for pair in result.pairs],
        "counts": result.counts,
        "only_locations": result.only_locations,
        "digests": dict(result.digests),
    }


def _variant(pair: Pair) -> dict[str, Any]:
    return {
        "kernel": pair.variant.kernel,
        "variant": pair.variant.variant_id,
        "config": pair.variant.config,
        "first_stage": pair.first_stage,
        "differing": pair.differing,
        "only_in": pair.only_in,
        "only_locations": pair.only_locations,
        "missing": pair.missing,
        "a": str(pair.a.path) if pair.a else None,
        "b": str(pair.b.path) if pair.b else None,
    }
