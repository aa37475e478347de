from __future__ import annotations

import sys
import types

import pytest

from zlbench_core.errors import CaliberMismatch, ReadError
from zlbench_core.results import report_ab
from zlbench_core.results.fallbacks import DIRECT


@pytest.fixture
def complaints(monkeypatch):
    """What the caliber guard answers, and what it was asked."""
    answer: list[str] = []
    asked: list[object] = []

    def caliber_complaints(runs):
        asked.append(runs)
        return answer

    module = types.ModuleType("zlbench_core.caliber.guard")
    module.caliber_complaints = caliber_complaints
    monkeypatch.setitem(sys.modules, "zlbench_core.caliber.guard", module)
    answer_and_asked = types.SimpleNamespace(answer=answer, asked=asked)
    return answer_and_asked


@pytest.fixture
def runs(make_run, session, block):
    a = make_run("a", log=session(block(rows=[("[torch.Size([8])]", 0.2, 0.1)])))
    b = make_run("b", log=session(block(rows=[("[torch.Size([8])]", 0.2, 0.05)]) + block(op="bmm")))
    return a, b


def test_runs_on_one_caliber_give_their_paired_rows(complaints, runs, capsys):
    (pair,) = report_ab(runs[0] / "run.log", runs[1] / "run.log", "mm")
    assert (pair.a.latency, pair.b.latency, pair.ratio) == (0.1, 0.05, 0.5)
    assert complaints.asked == [[("a", runs[0]), ("b", runs[1])]]
    assert capsys.readouterr().err == ""


def test_folders_stand_for_the_logs_in_them(complaints, runs):
    assert len(report_ab(str(runs[0]), str(runs[1]), "mm")) == 1


def test_another_caliber_is_refused_with_every_complaint(complaints, runs):
    complaints.answer += ["timer: a cuda_graph, b direct", "device: a H200, b H100"]
    with pytest.raises(CaliberMismatch, match="timer: a cuda_graph, b direct; device: a H200, b H100"):
        report_ab(runs[0] / "run.log", runs[1] / "run.log", "mm")


def test_a_caliber_mismatch_that_is_allowed_is_still_printed(complaints, runs, capsys):
    complaints.answer.append("timer: a cuda_graph, b direct")
    assert len(report_ab(runs[0] / "run.log", runs[1] / "run.log", "mm", strict=False)) == 1
    assert capsys.readouterr().err == "!!! [caliber] timer: a cuda_graph, b direct\n"


def test_rows_that_are_not_compared_are_named(complaints, make_run, session, block, capsys):
    size = "[torch.Size([8])]"
    a = make_run("a", log=session(block(rows=[(size, 0.2, 0.1)] * 2) + block(dtype="torch.float32")))
    b = make_run("b", log=session(block(rows=[(size, 0.2, 0.1)])))
    assert report_ab(a, b, "mm") == []
    errors = capsys.readouterr().err
    assert "!!! [rows] mm torch.float32 [[8]]: only in a" in errors
    assert "a has 2 rows of this size, b has 1" in errors


def test_a_fallback_on_one_side_takes_the_row_out_by_name(complaints, make_run, session, block, capsys):
    a, b = make_run("a", log=session(block())), make_run("b", log=session(f"{DIRECT}\n" + block()))
    assert report_ab(a, b, "mm") == []
    assert f"only b fell back to the direct timer ({DIRECT})" in capsys.readouterr().err


def test_a_side_that_did_not_finish_is_named(complaints, make_run, session, block, capsys):
    a = make_run("a", log=session(block()))
    b = make_run("b", log=session(block()).rpartition("\n=")[0])
    assert len(report_ab(a, b, "mm")) == 1
    assert capsys.readouterr().err == "!!! [partial] b: the log breaks off\n"


def test_an_operator_that_its_rows_call_otherwise_is_known_by_the_identity(
    complaints, make_run, session, block
):
    log = session(block(op="unique2"))
    named = [make_run(side, log=log, identity={"op": "unique"}) for side in "ab"]
    assert [pair.a.op for pair in report_ab(*named, "unique")] == ["unique2"]
    assert report_ab(*named, "sort") == []


def test_a_log_that_is_not_there_is_a_read_error(complaints, runs, tmp_path):
    with pytest.raises(ReadError):
        report_ab(runs[0] / "run.log", tmp_path / "nowhere" / "run.log", "mm")
