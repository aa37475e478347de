"""zlbench show and zlbench report: what they print, and what they say when the runs have changed."""

from __future__ import annotations

import json
import shutil

import pytest

from zlbench_core.commands.cli import main


@pytest.fixture
def show(folder, capsys):
    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["show", str(folder.path), *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_a_campaign_that_stands_is_shown_without_a_word_of_staleness(show):
    code, out, err = show()
    assert (code, err) == (0, "")
    assert "STALE" not in out
    assert "NO CODE CHANGE" in out


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (
            lambda path: shutil.rmtree(path / "mm/a/r3"),
            "gone since the summary was made: mm/a/r3/run_identity.json",
        ),
        (
            lambda path: _append(path / "mm/b/r2/run_identity.json"),
            "changed since the summary was made: mm/b/r2/",
        ),
        (lambda path: _append(path / "mm/b/r2/samples.jsonl"), "mm/b/r2/samples.jsonl"),
        (lambda path: (path / "mm/b/r2/result.json").unlink(), "mm/b/r2/result.json"),
        (lambda path: _append(path / "mm/ir_gate.json"), "mm/ir_gate.json"),
        (lambda path: (path / "receipt.json").unlink(), "no receipt"),
        (lambda path: (path / "receipt.json").write_text("[]"), "a JSON object is expected"),
    ],
)
def test_a_campaign_whose_runs_changed_is_stale_in_the_first_line(folder, show, spoil, told):
    spoil(folder.path)
    code, out, _ = show()
    assert code == 1
    assert out.startswith("STALE ")
    assert told in out.splitlines()[0]


def test_many_changes_are_counted_and_not_listed(folder, show):
    for path in folder.path.glob("mm/*/r*/run.log"):
        _append(path)
    assert "and 7 more" in show()[1].splitlines()[0]


def test_json_stays_json_when_it_is_stale(folder, show):
    _append(folder.path / "mm/b/r2/samples.jsonl")
    code, out, err = show("--json")
    found = json.loads(out)
    assert code == 1
    assert found["stale"] == ["changed since the summary was made: mm/b/r2/samples.jsonl"]
    assert [operator["op"] for operator in found["operators"]] == ["mm", "softmax", "layer_norm"]
    assert err.startswith("STALE ")


def test_markdown_is_a_table_that_a_pull_request_takes(show):
    code, out, err = show("--markdown")
    assert (code, err) == (0, "")
    assert out.startswith("### zlbench: is B faster than A?\n")
    assert "| mm | **UNDECIDED** | 1.0111 | 0.8573 to 1.1924 | 6 | over 1000 rounds needed |" in out
    assert out.index("**UNDECIDED**") < out.index("**NO CODE CHANGE**"), "the loudest first"


def test_the_markdown_says_what_its_ratio_is(show):
    assert "- the ratio is latency b / latency a: below 1, B is faster\n" in show("--markdown")[1]


def test_a_compile_only_campaign_asks_of_code_and_not_of_speed(folder, show):
    folder.change("receipt.json", lambda receipt: receipt["config"].update(measure=False))
    folder.operator("mm", detail="code differs from ttir on; not measured", evidence=None, rounds_needed=None)
    out = show("--markdown")[1]
    assert out.startswith("### zlbench: does B compile to other code than A?\n")
    assert "| mm | **UNDECIDED** | code differs from ttir on; not measured |" in out
    assert not any(word in out for word in ("faster", "ratio", "times", "interval"))


def test_the_last_lines_name_what_is_there_for_a_pull_request(folder, show):
    assert "summary.md" not in show()[1]
    main(["report", str(folder.path)])
    assert f"report: {folder.path}/report.html, summary.md\n" in show()[1]


def test_a_refused_operator_has_no_number_in_the_markdown_either(folder, show):
    folder.refuse("timer: a r1=direct, b r1=cuda_graph")
    out = show("--markdown")[1]
    assert "| mm | **REFUSED** | – | – | – | timer: a r1=direct, b r1=cuda\\_graph |" in out


def test_a_released_mismatch_is_marked_in_the_markdown(folder, show):
    folder.release("timer: a r1=direct, b r1=cuda_graph")
    assert "| 1.0111 ⚠ released | 0.8573 to 1.1924 ⚠ released |" in show("--markdown")[1]


def test_report_rebuilds_the_page_and_names_its_files(folder, capsys):
    assert main(["report", str(folder.path)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert [line.rpartition("/")[2] for line in out] == [
        "report.html",
        "summary.md",
        "ops_status.parquet",
        "summary.parquet",
        "ab.parquet",
    ]
    assert (folder.path / "report.html").read_text().startswith("<!doctype html>")


def test_a_stale_report_says_so_on_the_page_and_by_its_exit(folder, capsys):
    _append(folder.path / "mm/b/r2/samples.jsonl")
    assert main(["report", str(folder.path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["stale"]
    assert "<strong>STALE.</strong>" in (folder.path / "report.html").read_text()


def test_a_folder_without_a_campaign_is_one_line_and_exit_1(tmp_path, capsys):
    assert main(["report", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("zlbench: no summary: ")


def _append(path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")
