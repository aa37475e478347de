"""What both sides were measured with, and what each check of the guard said."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from zlbench_core.caliber.guard import CALIBER_FIELDS, compared_values, is_declared
from zlbench_core.common.plural import count

CHECKS = (
    ("status", "every run finished green with a latency for all that was asked"),
    ("run_identity", "every run has an identity, and its files are those that it vouches for"),
    ("plan", "every run was made by this campaign as it is now"),
    ("started", "no run is a copy of another"),
    ("declared", "every run was made for this pair of sides"),
    *((name, "the same on all runs of both sides") for name in CALIBER_FIELDS),
    ("autotune_mode", "one record pinned on both sides, never record against record"),
    ("replay", "every launch had its pin, and the pins are the same"),
    ("ir_gate", "it is known whether the generated code differs"),
    ("ir", "each side ran the same code in every round"),
    ("other", "nothing else in the identities differs but the declared axis"),
)
_NAMED = {name for name, _ in CHECKS}
ABSENT = "not set"
_SHOWN = 3
_MAX = 200


def check_rows(operators: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line per check: what was checked, and the operators that failed it with the guard's own sentences.

    An operator with a failed run was not checked any further, and is counted so.
    """
    operators = list(operators)
    failed: dict[str, list[str]] = defaultdict(list)
    ops: dict[str, set[str]] = defaultdict(set)
    for operator in operators:
        for refusal in operator["refusals"]:
            failed[_check_of(refusal)].append(f"{operator['op']}: {refusal}")
            ops[_check_of(refusal)].add(operator["op"])
    stopped = len(ops["status"])
    return [
        {
            "name": name,
            "text": text,
            "outcome": _outcome(len(operators), len(ops[name]), 0 if name == "status" else stopped),
            "ok": not ops[name],
            "failed": failed[name],
        }
        for name, text in CHECKS
    ]


def _check_of(refusal: str) -> str:
    name = re.split(r"[.:]", refusal, maxsplit=1)[0]
    return name if name in _NAMED else "other"


def _outcome(total: int, failed: int, stopped: int) -> str:
    parts = [f"passed by {total - failed - stopped} of {count(total, 'operator')}"]
    parts += [f"failed by {failed}"] if failed else []
    parts += [f"not asked of {stopped} whose runs failed"] if stopped else []
    return ", ".join(parts)


def value_rows(runs: Iterable[Any], axis: list[str], sides: list[str]) -> list[dict[str, Any]]:
    """One line per field of the identities: its values on each side, and whether they agree.

    `outcome` is same, declared (the axis of the comparison) or differs; operators are compared each by itself.
    """
    values: dict[str, dict[str, dict[str, set[str]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(set))
    )
    ops: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        ops[run.side].add(run.op)
        for name, value in compared_values(run.identity).items():
            values[name][run.side][run.op].add(_text(value))
    rows = [_value_row(name, values[name], ops, axis, sides) for name in values]
    order = {name: place for place, name in enumerate((*CALIBER_FIELDS, "autotune_mode"))}
    return sorted(rows, key=lambda row: (order.get(row["name"], len(order)), row["name"]))


def _value_row(
    name: str,
    by_side: dict[str, dict[str, set[str]]],
    ops: dict[str, set[str]],
    axis: list[str],
    sides: list[str],
) -> dict[str, Any]:
    differing = [op for op in sorted(set().union(*ops.values())) if len(_of_op(by_side, ops, op)) > 1]
    outcome = "same" if not differing else "declared" if is_declared(name, axis) else "differs"
    shown = {side: _shown(by_side.get(side, {})) for side in sides}
    return {
        "name": name,
        "sides": shown,
        "outcome": outcome,
        "ops": differing[:_SHOWN],
        "count": len(differing),
    }


def _of_op(by_side: dict[str, dict[str, set[str]]], ops: dict[str, set[str]], op: str) -> set[str]:
    """The values of all runs of one operator; a side that ran and did not record the field says so."""
    found: set[str] = set()
    for side, ran in ops.items():
        if op in ran:
            found |= by_side.get(side, {}).get(op) or {ABSENT}
    return found


def _shown(by_op: dict[str, set[str]]) -> str:
    distinct = sorted(set().union(*by_op.values())) if by_op else []
    if not distinct:
        return ABSENT
    more = len(distinct) - _SHOWN
    return "; ".join(distinct[:_SHOWN]) + (f"; and {count(more, 'other')}" if more > 0 else "")


def _text(value: Any) -> str:
    text = ABSENT if value is None else str(value)
    return text if len(text) <= _MAX else f"{text[:_MAX]}..."


def differing_first(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What differs stands first: a reader looks for it."""
    yield from sorted(rows, key=lambda row: {"differs": 0, "declared": 1}.get(row["outcome"], 2))
