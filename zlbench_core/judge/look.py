"""The first of two looks: which operators get more rounds. A pure function of what is stored of the first ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from zlbench_core.campaign.model import LookAsked
from zlbench_core.common.files import write_json
from zlbench_core.judge.collect import load_runs
from zlbench_core.judge.store import read_gates, store_campaign, store_operator
from zlbench_core.verdicts.stored import judge_operator


def first_look(
    asked: LookAsked, run_dirs: Sequence[Path], gate_files: Sequence[Path], family: int, out_path: Path
) -> None:
    """Write how many rounds each operator of `asked` gets in all; `family` counts those of the whole campaign.

    What is decided here is left alone, and so is what no further round can decide: a refusal, a failure.
    """
    runs, gates = load_runs(list(run_dirs)), read_gates(gate_files)
    operators, begun = [], {}
    for op in asked.subject.ops:
        operator, case, _ = store_operator(asked, op, runs.get(op, []), gates.get(op), family)
        operators.append(operator)
        begun[op] = case.rounds
    stored = store_campaign(asked, operators)
    judged = {operator.op: judge_operator(stored, operator) for operator in stored.operators}
    rounds = {op: begun[op] + verdict.next_rounds for op, verdict in judged.items()}
    said = {
        op: {"verdict": verdict.verdict.value, "detail": verdict.detail} for op, verdict in judged.items()
    }
    write_json(
        out_path,
        {"schema_version": 1, "status": "complete", "family": family, "rounds": rounds, "first_look": said},
    )
