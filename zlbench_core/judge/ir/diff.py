"""What differs between two IR archives: per variant a unified diff of its first differing stage."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zlbench_core.errors import ArchiveError
from zlbench_core.ir.archive import Variant, in_order
from zlbench_core.ir.normalise import readable
from zlbench_core.judge.ir.compare import UNKNOWN, GateResult, Pair, compare_archives, judge
from zlbench_core.judge.ir.costs import Cost, pair_costs
from zlbench_core.judge.ir.disassembly import disassemble_cubin
from zlbench_core.judge.ir.gate import variant_entry
from zlbench_core.judge.ir.renamed import pair_renamed

_DISASSEMBLERS = {"cubin": disassemble_cubin}


@dataclass(frozen=True)
class VariantDiff:
    """A variant that differs. `stage` is the one that `lines` show; None where one side alone compiled it."""

    pair: Pair
    cost: Cost
    stage: str | None
    lines: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {**variant_entry(self.pair, self.cost), "stage": self.stage, "diff": list(self.lines)}


@dataclass(frozen=True)
class ArchiveDiff:
    """`result` is the answer for the variants that were asked for, `variants` those of them that differ.

    `renamed`: two kernels, a's and b's, that were paired though their names differ.
    """

    result: GateResult
    variants: tuple[VariantDiff, ...]
    renamed: tuple[str, str] | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "same": not self.variants,
            "reason": self.result.reason,
            "renamed": None if self.renamed is None else list(self.renamed),
            "first_stage": self.result.first_stage,
            "counts": self.result.counts,
            "only_locations": self.result.only_locations,
            "variants": [variant.to_json() for variant in self.variants],
        }


def diff_archives(
    a_dir: Path | str, b_dir: Path | str, kernel: str | None = None, stage: str | None = None
) -> ArchiveDiff:
    """The differences of two runs' archives, locations stripped; of one kernel or at one stage where asked for.

    The one kernel of each side that has no counterpart by name is held against the other's.
    Raises ArchiveError when it is not known whether something differs, or when neither archive has what was
    asked for.
    """
    whole = compare_archives([a_dir], [b_dir])
    if not whole.pairs:
        raise ArchiveError(whole.reason)
    pairs, renamed = pair_renamed(whole.pairs)
    result = judge(_of_kernel(pairs, kernel), whole.digests)
    if stage is not None:
        _require_stage(result.pairs, stage)
    elif result.verdict == UNKNOWN:
        raise ArchiveError(result.reason)
    shown = [
        (pair, stage or pair.first_stage) for pair in result.pairs if pair.only_in or _differs(pair, stage)
    ]
    costs = pair_costs([pair for pair, _ in shown])
    variants = [_variant(pair, cost, at) for (pair, at), cost in zip(shown, costs, strict=True)]
    told = renamed if renamed and kernel in (None, *renamed) else None
    return ArchiveDiff(result, tuple(variants), told)


def _differs(pair: Pair, stage: str | None) -> bool:
    return stage in pair.differing if stage else bool(pair.differing)


def _of_kernel(pairs: tuple[Pair, ...], kernel: str | None) -> tuple[Pair, ...]:
    chosen = tuple(pair for pair in pairs if kernel is None or kernel in _names(pair))
    if not chosen:
        known = ", ".join(sorted(set().union(*map(_names, pairs))))
        raise ArchiveError(f"kernel {kernel!r} is in neither archive; there are {known}")
    return chosen


def _names(pair: Pair) -> set[str]:
    return {one.kernel for one in (pair.a, pair.b) if one}


def _require_stage(pairs: Sequence[Pair], stage: str) -> None:
    """Raise ArchiveError where a variant that both sides compiled lacks the stage on one of them."""
    for pair in pairs:
        if not pair.only_in and stage not in pair.stages:
            known = ", ".join(in_order(pair.stages for pair in pairs))
            raise ArchiveError(
                f"stage {stage!r} of kernel {pair.variant.kernel} was not captured on both sides; there are {known}"
            )


def _variant(pair: Pair, cost: dict[str, Any], stage: str | None) -> VariantDiff:
    if pair.both is None or stage is None:
        return VariantDiff(pair, cost, None, ())
    return VariantDiff(pair, cost, stage, _lines(*pair.both, stage))


def _lines(a: Variant, b: Variant, stage: str) -> tuple[str, ...]:
    names = (f"a/{a.kernel}.{stage}", f"b/{b.kernel}.{stage}")
    return tuple(difflib.unified_diff(_stage_lines(a, stage), _stage_lines(b, stage), *names, lineterm=""))


def _stage_lines(variant: Variant, stage: str) -> list[str]:
    lines = readable(stage, variant.read_stage(stage)).splitlines()
    if stage in _DISASSEMBLERS:
        code = _DISASSEMBLERS[stage](variant.path / stage)
        lines += code.instructions if code.instructions is not None else [f"(no disassembly: {code.reason})"]
    return lines
