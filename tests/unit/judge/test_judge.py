"""What keeps an operator's numbers out of the tables."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.unit.caliber.plain_caliber import CALIBER
from zlbench_core.common.files import sha256_of, write_json
from zlbench_core.judge.collect import load_runs
from zlbench_core.judge.evidence import stored_rows
from zlbench_core.judge.judge import build_case

AXIS = ["env:TRITON_F32_DEFAULT"]
LOG = """
Operator: mm  Performance Test (dtype=torch.float32, mode=kernel,level=core)
Status       Torch Latency (ms)    Gems Latency (ms)         Gems Speedup          Size Detail
-----------------------------------------------------------------------------------------------
{rows}
.
============================== 1 passed in 1.00s ===============================
"""
ROW = "SUCCESS                    N/A            {ms:.6f}                 N/A          [torch.Size([{n}, 8])]"


class Runs:
    def __init__(self, root: Path) -> None:
        self.root = root

    def folder(self, side: str, number: int) -> Path:
        return self.root / "mm" / side / f"r{number}"

    def add(self, side: str, number: int, ms: float = 1.0, sizes=(8, 16), **identity) -> None:
        folder = self.folder(side, number)
        folder.mkdir(parents=True)
        log = folder / "run.log"
        log.write_text(LOG.format(rows="\n".join(ROW.format(ms=ms, n=n) for n in sizes)))
        known = {
            "schema_version": 1,
            "op": "mm",
            "side": side,
            "round": number,
            "started": f"{side}{number}",
            "plan": "p",
            "provider": "builtin",
            "test_node": "test_mm.py::test_mm",
            "harness": "h",
            "measurement": {"mode": "kernel"},
            "environment": {
                "python": "3.11.7",
                "torch": "2.13.0",
                "triton": "3.6.0",
                "variables": {"TRITON_F32_DEFAULT": "ieee"} if side == "b" else {},
                "precision": {"matmul_allow_tf32": False},
            },
            "status": "complete",
            "pytest_exit": 0,
            "timed_out": False,
            **CALIBER,
            "declared": AXIS,
            "replay": {"pins_digest": "aa", "fallbacks": {}, "hits": 2},
            "digests": {"run.log": sha256_of(log)},
        }
        write_json(folder / "run_identity.json", {**known, **identity})

    def case(self, gate=None):
        folders = sorted(path.parent for path in self.root.rglob("run_identity.json"))
        return build_case("mm", load_runs(folders)["mm"], gate or self.gate("different"), AXIS, plan="p")

    def gate(self, verdict, **changes):
        digests = {}
        for side in "ab":
            index = self.root / f"{side}-index.json"
            index.write_text(side)
            digests[str(index)] = sha256_of(index)
        known = {
            "schema_version": 1,
            "status": "complete",
            "op": "mm",
            "verdict": verdict,
            "digests": digests,
        }
        return {**known, **changes}


@pytest.fixture
def runs(tmp_path):
    return Runs(tmp_path)


def test_two_comparable_sides_give_their_rounds(runs):
    runs.add("a", 1, 2.0)
    runs.add("b", 1, 1.0)
    case = runs.case()
    assert case.refusals == ()
    rows = [row.as_rounds("mm") for row in stored_rows(case, {})]
    assert [row.size for row in rows] == ["[[16, 8]]", "[[8, 8]]"]
    assert rows[0].log_ratios == pytest.approx((-0.6931,), abs=1e-3)


def test_a_log_that_was_edited_is_refused(runs):
    runs.add("a", 1)
    runs.add("b", 1)
    log = runs.folder("b", 1) / "run.log"
    log.write_text(log.read_text().replace("1.000000", "0.500000"))
    assert "is not the file that the run's identity vouches for" in runs.case().refusals[0]


def test_a_side_that_failed_is_refused_with_its_status_alone(runs):
    runs.add("a", 1)
    runs.add("b", 1, status="failed", pytest_exit=-11, timer=None)
    assert [refusal.split(":")[0] for refusal in runs.case().refusals] == ["status"]


def test_an_undeclared_difference_in_one_round_is_enough(runs):
    for number in (1, 2):
        runs.add("a", number)
    runs.add("b", 1)
    runs.add("b", 2, device_uuid="GPU-2")
    assert any(refusal.startswith("device_uuid:") for refusal in runs.case().refusals)


def test_rounds_may_run_on_several_devices_where_each_round_stays_on_one(runs):
    for number in (1, 2):
        for side in "ab":
            runs.add(side, number, device_uuid=f"GPU-{number}")
    case = runs.case()
    assert not any(refusal.startswith("device") for refusal in case.refusals)
    assert case.hazards == ("device_uuid: the rounds ran on 2 devices of one model: GPU-1, GPU-2",)


def test_a_side_that_changes_its_declared_variable_between_rounds_is_refused(runs):
    for number, value in ((1, "ieee"), (2, "tf32")):
        runs.add("a", number)
        environment = {
            "python": "3.11.7",
            "torch": "2.13.0",
            "triton": "3.6.0",
            "precision": {"matmul_allow_tf32": False},
        }
        runs.add("b", number, environment={**environment, "variables": {"TRITON_F32_DEFAULT": value}})
    assert "environment.variables.TRITON_F32_DEFAULT: b r1=ieee, b r2=tf32" in runs.case().refusals


def test_rounds_whose_code_cannot_be_compared_are_refused(runs):
    for number in (1, 2):
        runs.add("a", number)
        runs.add("b", number)
    assert [refusal[:8] for refusal in runs.case().refusals] == ["ir: a r2", "ir: b r2"]


@pytest.mark.parametrize("field", ["harness", "environment", "provider", "measurement"])
def test_what_neither_side_recorded_is_not_equal(runs, field):
    runs.add("a", 1, **{field: None})
    runs.add("b", 1, **{field: None})
    assert any(refusal.startswith(field) for refusal in runs.case().refusals)


def test_a_run_of_another_campaign_is_refused(runs):
    runs.add("a", 1)
    runs.add("b", 1, plan="q")
    assert runs.case().refusals == ("plan: b r1 was not made by this campaign as it is now",)


def test_a_run_in_the_place_of_another_is_refused(runs):
    runs.add("a", 1)
    shutil.copytree(runs.folder("a", 1), runs.folder("b", 1))
    assert "holds a run of mm/a/r1" in runs.case().refusals[0]


def test_one_run_is_not_two_rounds(runs):
    runs.add("a", 1)
    runs.add("b", 1)
    runs.add("a", 2, started="a1")
    runs.add("b", 2)
    assert "started: a r2 is a copy of a r1" in runs.case().refusals


@pytest.mark.parametrize("changes", [{"digests": {}}, {"status": "running"}])
def test_a_run_that_vouches_for_nothing_or_has_not_ended_is_refused(runs, changes):
    runs.add("a", 1)
    runs.add("b", 1, **changes)
    assert runs.case().refusals[0].startswith("run_identity: b r1:")


def test_runs_that_were_made_for_another_pair_of_sides_are_refused(runs):
    runs.add("a", 1, declared=["python"])
    runs.add("b", 1)
    assert runs.case().refusals == ("declared: a r1 ran for another pair of sides than this campaign's",)


def test_a_gate_that_compared_other_code_is_refused(runs, tmp_path):
    runs.add("a", 1)
    runs.add("b", 1)
    assert runs.case(runs.gate("different")).refusals == ()
    gate = runs.gate("different")
    (tmp_path / "b-index.json").write_text("other")
    assert "is not what the gate compared" in runs.case(gate).refusals[0]


@pytest.mark.parametrize(
    "changes", [{"op": "add"}, {"schema_version": 99}, {"status": "partial"}, {"digests": {}}]
)
def test_a_gate_that_is_not_a_whole_gate_of_this_operator_is_refused(runs, changes):
    runs.add("a", 1)
    runs.add("b", 1)
    assert runs.case(runs.gate("different", **changes)).refusals[0].startswith("ir_gate:")


def test_code_that_nobody_compared_is_refused(runs):
    runs.add("a", 1)
    runs.add("b", 1)
    assert "nothing captured" in runs.case(runs.gate("unknown", reason="nothing captured")).refusals[0]


def test_a_row_that_only_one_side_has_is_left_out_and_named(runs):
    runs.add("a", 1, sizes=(8, 16))
    runs.add("b", 1, sizes=(8,))
    case = runs.case()
    assert len(case.pairs) == 1
    assert case.exclusions == ("round 1: torch.float32 [[16, 8]]: only on side a",)


def test_a_gate_that_names_one_archive_compared_nothing(runs):
    runs.add("a", 1)
    runs.add("b", 1)
    whole = runs.gate("identical")
    for count in (0, 1):
        gate = {**whole, "digests": dict(list(whole["digests"].items())[:count])}
        assert "ir_gate: an archive is not what the gate compared" in runs.case(gate).refusals
    assert runs.case(whole).refusals == ()


def test_a_variable_that_a_process_did_not_have_is_told_and_a_path_that_zlbench_composes_is_not(runs):
    axis = [*AXIS, "env:PYTHONPATH"]
    asked = {"TRITON_F32_DEFAULT": "ieee", "PYTHONPATH": "/mine"}

    def refusals(**variables):
        shutil.rmtree(runs.root / "mm", ignore_errors=True)
        for side, env in (("a", {}), ("b", variables)):
            environment = {
                "python": "3.11.7",
                "torch": "2.13.0",
                "triton": "3.6.0",
                "variables": env,
                "precision": {"matmul_allow_tf32": False},
            }
            runs.add(side, 1, declared=axis, environment=environment)
        folder = runs.folder("b", 1)
        write_json(folder / "header.json", {"side": {"env": asked}})
        identity = json.loads((folder / "run_identity.json").read_text())
        identity["digests"]["header.json"] = sha256_of(folder / "header.json")
        write_json(folder / "run_identity.json", identity)
        folders = sorted(path.parent for path in runs.root.rglob("run_identity.json"))
        return build_case("mm", load_runs(folders)["mm"], runs.gate("different"), axis, plan="p").refusals

    composed = "/zlbench/side_path:/mine:/provider/src"
    assert refusals(TRITON_F32_DEFAULT="ieee", PYTHONPATH=composed) == ()
    [line] = refusals(PYTHONPATH=composed)
    assert line == "environment.variables.TRITON_F32_DEFAULT: b r1 ran with nothing, asked was ieee"
