"""Staleness by content: digests say which changed source measures again, and not Snakemake's trigger `code`."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from zlbench_core.commands.run import RERUN_TRIGGERS
from zlbench_core.common.places import WORKFLOW
from zlbench_core.run import source_digests


@pytest.fixture
def digests(tmp_path, monkeypatch):
    """Both digests of a small tree, after a change of one of its files."""
    for name in (
        "package/runner.py",
        "package/report/page.py",
        "flow/scripts/replay_round.py",
        "flow/scripts/report.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one\n")
    monkeypatch.setattr(source_digests, "PACKAGE", tmp_path / "package")
    monkeypatch.setattr(source_digests, "WORKFLOW", tmp_path / "flow")

    def digests(changed: str | None = None) -> tuple[str, str]:
        if changed:
            (tmp_path / changed).write_text("two\n")
        source_digests.measuring_sources.cache_clear()
        source_digests.all_sources.cache_clear()
        return source_digests.measuring_sources(), source_digests.all_sources()

    yield digests
    source_digests.measuring_sources.cache_clear()
    source_digests.all_sources.cache_clear()


@pytest.mark.parametrize(
    ("changed", "measures_again"),
    [
        ("package/runner.py", True),
        ("flow/scripts/replay_round.py", True),
        ("package/report/page.py", False),
        ("flow/scripts/report.py", False),
    ],
)
def test_a_changed_source_measures_again_where_it_takes_part_in_measuring(digests, changed, measures_again):
    before, after = digests(), digests(changed)
    assert (before[0] != after[0]) == measures_again
    assert before[1] != after[1]


def test_the_same_content_is_the_same_wherever_it_lies(digests, tmp_path):
    before = digests()
    (tmp_path / "flow/scripts/replay_round.py").touch()
    assert digests() == before


@pytest.mark.parametrize(
    "profile", sorted(WORKFLOW.glob("profiles/*/*.yaml")), ids=lambda path: path.parent.name
)
def test_every_profile_leaves_code_out_of_the_triggers(profile: Path):
    assert set(yaml.safe_load(profile.read_text())["rerun-triggers"]) == set(RERUN_TRIGGERS)


def test_a_receipt_names_every_source_by_its_path_in_the_checkout():
    names = source_digests.harness_files()
    assert {"workflow/Snakefile", "workflow/rules/common.smk", "zlbench_core/common/places.py"} <= set(names)
    assert {name.partition("/")[0] for name in names} == {"workflow", "zlbench_core"}
