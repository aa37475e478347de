"""Staleness by content: digests say which changed source measures again, and not Snakemake's trigger `code`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from zlbench_core.commands.run import RERUN_TRIGGERS
from zlbench_core.common.places import PACKAGE, WORKFLOW
from zlbench_core.run import source_digests


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A copy of the package and of the workflow, whose digests are those that the functions tell."""
    shutil.copytree(PACKAGE, tmp_path / "zlbench_core", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(WORKFLOW, tmp_path / "workflow")
    monkeypatch.setattr(source_digests, "PACKAGE", tmp_path / "zlbench_core")
    monkeypatch.setattr(source_digests, "WORKFLOW", tmp_path / "workflow")
    yield tmp_path
    forget()


def forget() -> None:
    source_digests.measuring_sources.cache_clear()
    source_digests.sources_of.cache_clear()
    source_digests._imported.cache_clear()
    source_digests._package_files.cache_clear()


def digests() -> dict[str, str]:
    forget()
    readers = {
        name: source_digests.sources_of(name) for name in ("compare_ir.py", "summarise.py", "first_look.py")
    }
    return {"measure": source_digests.measuring_sources(), **readers}


SUMMARY = {"summarise.py", "first_look.py"}
COMPARED = {"compare_ir.py"}


@pytest.mark.parametrize(
    ("edited", "changed"),
    [
        ("zlbench_core/records/superblock.py", {"measure", *SUMMARY}),
        ("zlbench_core/run/duet/row_plan.py", {"measure"}),
        ("zlbench_core/run/duet/coins.py", {"measure"}),
        ("zlbench_core/run/environment.py", {"measure", *SUMMARY}),
        ("zlbench_core/providers/flaggems.py", {"measure", *SUMMARY}),
        ("zlbench_core/timing/capture.py", {"measure"}),
        ("zlbench_core/suite/kernels/mm.py", {"measure"}),
        ("zlbench_core/ir/normalise.py", {"measure", *COMPARED, *SUMMARY}),
        ("workflow/scripts/replay_round.py", {"measure"}),
        ("workflow/scripts/record_shard.py", {"measure"}),
        ("zlbench_core/judge/ir/gate.py", COMPARED | SUMMARY),
        ("zlbench_core/judge/judge.py", SUMMARY),
        ("zlbench_core/verdicts/interval.py", SUMMARY),
        ("zlbench_core/results/status.py", SUMMARY),
        ("zlbench_core/caliber/guard.py", SUMMARY),
        ("workflow/scripts/compare_ir.py", COMPARED),
        ("workflow/scripts/summarise.py", {"summarise.py"}),
        ("zlbench_core/judge/ir/diff.py", set()),
        ("zlbench_core/commands/ir.py", set()),
        ("zlbench_core/report/markdown.py", set()),
        ("zlbench_core/report/template/report.html.j2", set()),
        ("zlbench_core/start/snakemake_console.py", set()),
        ("workflow/scripts/report.py", set()),
    ],
)
def test_an_edit_reaches_what_rests_on_it_and_no_more(tree, edited, changed):
    before = digests()
    (tree / edited).write_text((tree / edited).read_text() + "\n# edited\n")
    after = digests()
    assert {name for name in before if before[name] != after[name]} == changed


def test_a_module_that_nobody_has_seen_yet_counts_at_once(tree):
    before = digests()["measure"]
    (tree / "zlbench_core" / "timing" / "new.py").write_text("")
    assert digests()["measure"] != before


def test_a_script_that_starts_to_measure_counts_at_once(tree):
    script = tree / "workflow" / "scripts" / "report.py"
    before = digests()["measure"]
    script.write_text("def f():\n    from zlbench_core.run import runner\n")
    assert digests()["measure"] != before


def test_the_same_content_is_the_same_wherever_it_lies(tree):
    before = digests()
    (tree / "zlbench_core" / "run" / "runner.py").touch()
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
