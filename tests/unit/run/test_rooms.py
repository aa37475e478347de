"""Who may import whom: what runs in a benchmark process, what starts one, and what reads a finished one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from zlbench_core.common.places import PACKAGE
from zlbench_core.run.source_digests import READING

BASE = {"backends", "common", "errors", "ir", "pins", "records"}  # what everybody may import
INSIDE = {"duet", "plugins", "suite", "timing", "tuning"}  # a benchmark process
OUTSIDE = {"campaign", "providers", "run"}  # what starts one
ALLOWED = {
    **dict.fromkeys(BASE, BASE),
    **dict.fromkeys(INSIDE, BASE | INSIDE),
    **dict.fromkeys(OUTSIDE, BASE | INSIDE | OUTSIDE),
    **dict.fromkeys(READING, BASE | INSIDE | OUTSIDE | READING),
}


def rooms_imported(source: str) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("zlbench_core.") and "__" not in name}


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_a_room_imports_no_room_that_it_must_not_know(room):
    sources = sorted((PACKAGE / room).rglob("*.py")) or [PACKAGE / f"{room}.py"]
    wrong = {
        f"{path.relative_to(PACKAGE)} imports {other}"
        for path in sources
        for other in rooms_imported(path.read_text()) - ALLOWED[room]
    }
    assert wrong == set()


def test_every_room_has_its_place():
    rooms = {
        path.stem
        for path in PACKAGE.iterdir()
        if path.name.rstrip("_") == path.name and path.stem != "side_path"
    }
    assert {room for room in rooms if not room.startswith("_")} == set(ALLOWED)


def test_the_rule_sees_imports_of_every_form_and_depth():
    source = "def f():\n    from zlbench_core import judge\n    import zlbench_core.report.page\n"
    assert rooms_imported(source) == {"judge", "report"}
    assert Path(PACKAGE / "judge").is_dir()
