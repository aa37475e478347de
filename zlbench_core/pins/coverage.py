"""Whether the shards of a sweep together walked every item that the serial sweep would have walked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zlbench_core.common.files import digest_of

Plan = list[dict[str, Any]]


def benchmark_plan(
    op: str, dtypes: Sequence[str], shapes: Sequence[Any], shard: tuple[int, int]
) -> dict[str, Any]:
    """What one benchmark object was to walk, as its shard saw it; `walked` is filled while it walks."""
    what = {"op": op, "dtypes": list(dtypes), "shapes": list(shapes)}
    return {**what, "digest": digest_of(what), "shard": list(shard), "walked": {}}


def coverage_gap(plans: Sequence[Plan]) -> str | None:
    """The first hole in the union of the shards' plans, in one line, or None when there is none.

    A shard without a plan walked everything itself, so sweeps whose plans are all empty have no hole.
    """
    lengths = {len(plan) for plan in plans}
    if len(lengths) > 1:
        return f"the shards met different numbers of benchmarks: {', '.join(map(str, sorted(lengths)))}"
    for position in range(lengths.pop() if lengths else 0):
        gap = _gap_of_benchmark([plan[position] for plan in plans])
        if gap is not None:
            return gap
    return None


def _gap_of_benchmark(parts: Sequence[dict[str, Any]]) -> str | None:
    op = parts[0]["op"]
    if len({part["digest"] for part in parts}) > 1:
        return f"the shards resolved different dtypes or shapes for {op}"
    counts = {part["shard"][1] for part in parts}
    if counts != {len(parts)} or {part["shard"][0] for part in parts} != set(range(len(parts))):
        found = ", ".join(f"{index}/{count}" for index, count in (part["shard"] for part in parts))
        return f"{op} was split as {found}; every shard of {len(parts)} is expected once"
    gaps = (_gap_of_dtype(op, dtype, parts) for dtype in parts[0]["dtypes"])
    return next((gap for gap in gaps if gap is not None), None)


def _gap_of_dtype(op: str, dtype: str, parts: Sequence[dict[str, Any]]) -> str | None:
    walked = [part["walked"][dtype] for part in parts if dtype in part["walked"]]
    if not walked:
        return f"no shard walked {op} {dtype}"
    if any(not one["finished"] for one in walked):
        return f"a shard stopped in the middle of {op} {dtype}"
    totals = {one["total"] for one in walked}
    if len(totals) > 1:
        return f"the shards counted different items of {op} {dtype}: {sorted(totals)}"
    missing = set(range(totals.pop())).difference(*(one["mine"] for one in walked))
    return f"no shard walked item {min(missing)} of {op} {dtype}" if missing else None


def shapes_digest(plan: Plan) -> str | None:
    """The digest of the effective dtypes and shapes of a sweep (16 hex digits), None without a plan."""
    return digest_of([[part["op"], part["dtypes"], part["shapes"]] for part in plan]) if plan else None
