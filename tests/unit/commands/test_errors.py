"""What a command cannot read or may not write is one line, never a trace; what only reads needs no more than that."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from zlbench_core.commands.cli import main

DAMAGES = {
    "truncated": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "not UTF-8": lambda content: b"\xff\xfe" + content,
    "a list": lambda content: b"[1, 2]",
    "an object": lambda content: b"{}",
}
SHOW, MARKDOWN, REPORT = ["show", "{0}"], ["show", "{0}", "--markdown"], ["report", "{0}"]
COMPARE = ["compare", "{0}/mm/a/r1", "{0}/mm/b/r1"]
IR_DIFF, IR_COST = ["ir", "diff", "{0}/mm/a/r1", "{0}/mm/b/r1"], ["ir", "cost", "{0}/mm/a/r1"]
PINS = [["pins", "show", "{0}/mm/pins"], ["pins", "diff", "{0}/mm/pins", "{0}/mm/pins"]]
VERDICT, IDENTITY = ["verdict", "{0}"], ["identity", "{0}/mm/a/r1"]
READERS = {
    "verdicts.json": [SHOW, VERDICT],
    "receipt.json": [SHOW, VERDICT],
    "ops_status.csv": [SHOW],
    "summary.csv": [REPORT],
    "ab.csv": [REPORT],
    "rounds.parquet": [VERDICT],
    "mm/ir_gate.json": [MARKDOWN],
    "mm/pins/pins.json": PINS,
    "mm/pins/meta.json": PINS,
    "mm/a/r1/run_identity.json": [MARKDOWN, IDENTITY, COMPARE],
    "mm/a/r1/result.json": [COMPARE],
    "mm/a/r1/ir/index.json": [IR_DIFF, IR_COST],
}


@pytest.fixture
def damaged(finished_once):
    """Puts something else in the place of a file of the finished campaign, until the test ends; None is a folder."""
    kept: dict[Path, bytes] = {}

    def put(name: str, content: bytes | None) -> Path:
        path = finished_once / name
        kept.setdefault(path, path.read_bytes() if path.is_file() else b"")
        if content is not None:
            path.write_bytes(content)
        else:
            path.unlink()
            path.mkdir()
        return path

    yield put
    for path, content in kept.items():
        if path.is_dir():
            path.rmdir()
        path.write_bytes(content)


def told(capsys, command: list[str], folder: Path) -> list[str]:
    """The lines on stderr; a trace is an exception here."""
    main([word.format(folder) for word in command])
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_told_in_one_line_for_each_complaint(finished_once, damaged, name, capsys):
    content = (finished_once / name).read_bytes()
    starts = ("zlbench: ", "!!! [caliber] ", "STALE ", str(finished_once))
    for other in (*(damage(content) for damage in DAMAGES.values()), None):
        damaged(name, other)
        for command in READERS[name]:
            lines = told(capsys, command, finished_once)
            assert [line for line in lines if not line.startswith(starts)] == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("op,", "has no column"),
        ("{head}\nmm,a\n", "line 2: not as many cells"),
        ("{head}\n{zeros}\n", "is 'x'"),
    ],
)
def test_a_table_that_is_not_whole_is_refused(finished_once, damaged, text, complaint, capsys):
    head = (finished_once / "ab.csv").read_text().splitlines()[0]
    path = damaged("ab.csv", text.format(head=head, zeros=",".join("x" for _ in head.split(","))).encode())
    [line] = told(capsys, REPORT, finished_once)
    assert line.startswith(f"zlbench: table {path}")
    assert complaint in line


@pytest.mark.parametrize(
    "command", [SHOW, MARKDOWN, VERDICT, COMPARE, IDENTITY, IR_DIFF, IR_COST, REPORT, *PINS]
)
@pytest.mark.parametrize("kind", ["nothing", "a file", "empty", "another kind"])
def test_a_folder_that_holds_no_results_is_told_in_one_line(tmp_path, command, kind, capsys):
    place = tmp_path / "cpu"
    if kind == "a file":
        place.write_text("")
    elif kind != "nothing":
        place.mkdir()
    if kind == "another kind":
        (place / "photo.png").write_bytes(b"\x89PNG")
    [line] = told(capsys, command, place)
    assert line.startswith("zlbench: ")
    assert str(place) in line


@pytest.fixture(scope="module")
def imported(finished_once) -> None:
    """Whatever the commands import is read before an ordinary user asks, who may not read the interpreter's files."""
    export = ["pins", "export", "{0}/mm/pins", "{0}/once.bundle"]
    for command in (MARKDOWN, VERDICT, COMPARE, IDENTITY, IR_DIFF, IR_COST, REPORT, *PINS, export):
        main([word.format(finished_once) for word in command])


@pytest.fixture(scope="module")
def locked(finished_once, imported) -> Iterator[Path]:
    top = Path(tempfile.mkdtemp())  # unlike tmp_path, others may enter what lies above it
    top.chmod(0o755)
    folder = shutil.copytree(finished_once, top / "cpu")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield folder
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)
    shutil.rmtree(top)


@pytest.fixture
def read_only(locked) -> Iterator[Path]:
    """Results that an ordinary user may read and not write."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    yield locked
    if root:
        os.seteuid(0)


@pytest.mark.parametrize("command", [SHOW, MARKDOWN, VERDICT, COMPARE, IDENTITY, IR_DIFF, IR_COST, *PINS])
def test_what_only_reads_works_on_results_that_may_only_be_read(read_only, command, capsys):
    lines = told(capsys, command, read_only)
    assert lines == []


def test_a_report_that_may_not_be_written_is_one_line(read_only, capsys):
    assert main(["report", str(read_only)]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line == (
        f"zlbench: {read_only}/report.html: Permission denied; make it writable and give the same command again"
    )


def test_pins_that_may_not_be_exported_are_one_line(read_only, capsys):
    assert main(["pins", "export", f"{read_only}/mm/pins", f"{read_only}/pins.bundle2"]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"zlbench: {read_only}/pins.bundle2: Permission denied")
