"""The summary's work, one operator at a time and on several processes: the runs of a large campaign do not fit at once.

What comes back of an operator is small and can be sent: checked lines of tables, samples as an Arrow message, no run.
"""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from zlbench_core.campaign.model import Campaign
from zlbench_core.campaign.schema_files import prepare
from zlbench_core.common.files import sha256_of
from zlbench_core.judge.collect import load_runs
from zlbench_core.judge.evidence import sample_lines
from zlbench_core.judge.judge import OperatorCase
from zlbench_core.judge.lines import ab_lines, status_lines, summary_lines
from zlbench_core.judge.store import Gates, family_of, store_campaign, store_operator
from zlbench_core.results.columns import Line
from zlbench_core.results.store import packed_samples
from zlbench_core.run.plans import round_digest
from zlbench_core.verdicts import OperatorVerdict
from zlbench_core.verdicts.stored import StoredOperator, judge_operator


@dataclass(frozen=True)
class OperatorPart:
    """One operator's share of the summary. `ab` and `summary` are empty where its numbers may not be shown."""

    op: str
    stored: StoredOperator | None
    verdict: OperatorVerdict | None  # of the operator alone, before its family is looked at
    statuses: tuple[Line, ...]
    ab: tuple[Line, ...]
    summary: tuple[Line, ...]
    samples: bytes  # packed_samples
    identities: dict[str, str]  # sha256 by path


@contextmanager
def operator_parts(
    campaign: Campaign, run_dirs: Sequence[Path], gates: Gates, at_once: int
) -> Iterator[Iterator[OperatorPart]]:
    """The parts in the campaign's order, made by up to `at_once` processes."""
    folders: dict[str, list[Path]] = {op: [] for op in campaign.subject.ops}
    for folder in run_dirs:
        folders[folder.parts[-3]].append(folder)
    make = partial(_part, campaign, family_of(gates))
    work = (campaign.subject.ops, folders.values(), map(gates.get, campaign.subject.ops))
    if at_once < 2 or len(campaign.subject.ops) < 2:
        yield map(make, *work)
        return
    # Read and imported here, what every process needs is inherited; what is inherited is never garbage.
    round_digest(campaign, campaign.subject.ops[0])
    prepare("ir_gate")
    import_module("scipy.special")
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(at_once, mp_context=context, initializer=gc.freeze) as pool:
        yield pool.map(make, *work)


def _part(
    campaign: Campaign, family: int, op: str, run_dirs: list[Path], gate: dict[str, Any] | None
) -> OperatorPart:
    runs = load_runs(run_dirs).get(op, [])
    stored, case, calls = store_operator(campaign, op, runs, gate, family)
    shown = _has_numbers(campaign, case, gate or {})
    lines = [line for run in runs for line in sample_lines(run, calls[run.label])]
    identities = [run.folder / "run_identity.json" for run in runs]
    return OperatorPart(
        op,
        stored,
        judge_operator(store_campaign(campaign, []), stored) if stored else None,
        tuple(status_lines(campaign, runs)),
        tuple(ab_lines(case)) if shown else (),
        tuple(summary_lines(campaign, case, runs)) if shown else (),
        packed_samples(lines),
        {str(path): sha256_of(path) for path in identities if path.is_file()},
    )


def _has_numbers(campaign: Campaign, case: OperatorCase, gate: Mapping[str, Any]) -> bool:
    """Refused sides and equal code have none: the rounds of unchanged code show noise."""
    if gate.get("verdict") == "identical" and not campaign.judgement.allow_no_diff:
        return False
    return campaign.judgement.allow_caliber_mismatch or not case.refusals
