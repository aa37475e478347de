"""ir_gate.json: whether the sides of an operator run different code at all, and what that costs.

The one place that builds the document; docs/ir.md and zlbench_core/campaign/schemas/ir_gate.schema.yaml describe it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zlbench_core.common.files import read_object, write_json
from zlbench_core.errors import ArchiveError
from zlbench_core.judge.ir.compare import IDENTICAL, UNKNOWN, GateResult, Pair, compare_archives
from zlbench_core.judge.ir.costs import Cost, change_ranges, pair_costs

SCHEMA_VERSION = 1
NO_IR_DIFF = "SWITCH_NO_IR_DIFF"


def gate(
    op: str,
    a_dirs: Sequence[Path | str],
    b_dirs: Sequence[Path | str],
    out_path: Path | str,
    failures: Sequence[str] = (),
) -> dict[str, Any]:
    """Compare the archives of both sides, write the answer to `out_path` and return it.

    `failures` are runs that did not come to their end: what they compiled may be a part, so the answer is
    "unknown" whatever the archives hold. The verdict "unknown" is written like the others, with its reason; the
    caller must fail on it.
    """
    result = GateResult(UNKNOWN, "; ".join(failures)) if failures else compare_archives(a_dirs, b_dirs)
    document = gate_document(op, result, a_dirs, b_dirs)
    write_json(out_path, document)
    return document


def read_gate(path: Path | str) -> dict[str, Any]:
    """A written gate. Raises ArchiveError, one line, for one that holds no verdict."""
    found = read_object(path, ArchiveError, what="gate")
    if "verdict" not in found:
        raise ArchiveError(f"gate {path} holds no verdict; remove it and run again")
    return found


def gate_document(
    op: str, result: GateResult, a_dirs: Sequence[Path | str], b_dirs: Sequence[Path | str]
) -> dict[str, Any]:
    costs = pair_costs(result.pairs)
    changed = [cost for pair, cost in zip(result.pairs, costs, strict=True) if pair.differing]
    return {
        "schema_version": SCHEMA_VERSION,
        "status": "complete",
        "op": op,
        "verdict": result.verdict,
        "reason": result.reason,
        "marker": NO_IR_DIFF if result.verdict == IDENTICAL else None,
        "first_stage": result.first_stage,
        "sides": {"a": [str(path) for path in a_dirs], "b": [str(path) for path in b_dirs]},
        "variants": [variant_entry(pair, cost) for pair, cost in zip(result.pairs, costs, strict=True)],
        "counts": result.counts,
        "cost_change": change_ranges(changed),
        "only_locations": result.only_locations,
        "digests": dict(result.digests),
    }


def variant_entry(pair: Pair, cost: Cost) -> dict[str, Any]:
    """One kernel variant of the document."""
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
        "cost": cost,
    }
