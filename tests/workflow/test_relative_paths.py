"""Where the relative paths of a campaign count from, which docs/operators.md and config/README.md say."""

from __future__ import annotations

from .conftest import REPOSITORY

OWN = "def test_mine():\n    pass\n"


def test_relative_paths_count_from_the_run_folder(campaign):
    asked = campaign(ops=["mine"], suite_dirs=["own"], shape_file="shapes.yaml", sides={"a": {}, "b": None})
    (asked.folder / "own").mkdir(parents=True)
    (asked.folder / "own" / "test_mine.py").write_text(OWN)
    (asked.folder / "shapes.yaml").write_text("mine: {shapes: [[8, 8]]}\n")
    assert not (REPOSITORY / "own").exists()  # where the tests and Snakemake are started
    outcome = asked("--dry-run")
    assert outcome.code == 0, outcome.text[-2000:]
    assert outcome.jobs


def test_a_misspelt_name_in_a_shape_file_is_one_line_before_anything_runs(campaign):
    asked = campaign(ops=["add"], shape_file="shapes.yaml", sides={"a": {}, "b": None})
    asked.folder.mkdir()
    (asked.folder / "shapes.yaml").write_text("ad: {shapes: [[8, 8]]}\n")
    outcome = asked("--dry-run")
    assert outcome.code == 1
    [line] = [line for line in outcome.text.splitlines() if "PREFLIGHT_FAILED check=shape_file" in line]
    assert "shapes.yaml: ad is neither an operator nor a benchmark class of provider builtin; did" in line
    assert "Traceback" not in outcome.text
