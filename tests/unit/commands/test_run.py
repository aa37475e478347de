"""zlbench run: which words are a campaign, which a target, and what Snakemake is told."""

from __future__ import annotations

import sys

import pytest

from zlbench_core.campaign.load import load_campaign
from zlbench_core.commands import run as command
from zlbench_core.commands.cli import main
from zlbench_core.common.places import SNAKEFILE
from zlbench_core.errors import MachineError
from zlbench_core.start.snakemake_api import _check_run_folder

TRIGGERS = ["--rerun-triggers", "mtime", "params", "input", "software-env"]


@pytest.fixture
def started(tmp_path, monkeypatch):
    """What `zlbench run` with these words starts, less the interpreter and the workflow."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SNAKEMAKE_PROFILE", raising=False)
    (tmp_path / "mine.yaml").write_text("ops: [mm]\n")
    found = []
    monkeypatch.setattr(command.os, "execv", lambda program, argv: found.append(argv))

    def started(*words):
        main(["run", *words])
        begin = [sys.executable, "-m", "snakemake", "--snakefile", str(SNAKEFILE)]
        assert found[-1][: len(begin)] == begin
        return found[-1][len(begin) :]

    return started


def test_without_a_word_it_is_the_default_campaign_on_all_cores(started):
    assert started() == [*TRIGGERS, "--cores", "all"]


def test_a_file_comes_first_and_targets_follow_wherever_options_stand(started, tmp_path):
    asked = [
        "--configfile",
        str(tmp_path / "mine.yaml"),
        *TRIGGERS,
        "--cores",
        "3",
        "require_accepted",
        "all",
    ]
    assert started("mine.yaml", "require_accepted", "--cores", "3", "all") == asked
    assert started("--cores", "3", "mine.yaml", "require_accepted", "all") == asked


def test_a_result_is_a_target(started):
    assert started("results/cpu/verdicts.json")[-1] == "results/cpu/verdicts.json"
    assert "--configfile" not in started("./results/cpu/mm/a/r1/shapes.yaml")


def test_the_words_after_the_dashes_are_snakemakes_and_come_last(started):
    words = ["--rerun-triggers", "code", "--config", "ops=[mm]", "--", "all"]
    assert started("mine.yaml", "--", *words)[-len(words) :] == words


@pytest.mark.parametrize(
    "options", [["--cores=4"], ["-c4"], ["-j", "8"], ["--workflow-profile", "slurm"], ["--executor", "slurm"]]
)
def test_cores_are_left_to_whoever_bounds_the_jobs(started, options):
    assert "all" not in started("--", *options)


def test_cores_are_given_beside_options_that_do_not_bound(started):
    assert "all" in started("--", "--config", "ops=[mm]", "-n", "--cache")


def test_a_folder_is_made_and_the_campaign_still_counts_from_here(started, tmp_path):
    told = started("-d", "new/one", "mine.yaml")
    assert (tmp_path / "new/one").is_dir()
    assert told[:4] == ["--configfile", str(tmp_path / "mine.yaml"), "--directory", "new/one"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["gone.yaml"], "zlbench: no campaign file: gone.yaml does not exist"),
        (["notes"], "zlbench: campaign file notes is not a mapping of keys"),
        (["mine.yaml", "other.yml"], "zlbench: other.yml is no target; one campaign file is allowed"),
        (["-d", "notes/x"], "zlbench: run folder notes/x cannot be made: Not a directory"),
    ],
)
def test_what_cannot_be_run_is_one_line(started, tmp_path, capsys, words, line):
    (tmp_path / "notes").write_text("to be done\n")
    assert main(["run", *words]) == 1
    [told] = capsys.readouterr().err.splitlines()
    assert told.startswith(line)


@pytest.mark.parametrize("words", [["run", "mine.yaml", "-n"], ["run", "--config", "ops=[mm]"]])
def test_an_option_of_snakemake_without_the_dashes_says_where_it_goes(started, capsys, words):
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert "options of Snakemake stand behind --" in capsys.readouterr().err


def test_other_commands_take_no_words_that_they_do_not_know(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["devices", "all"])
    assert "unrecognized arguments: all\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "in_the_way"),
    [
        (["--cores", "2"], [".snakemake", "logs", "results"]),
        (["-n"], [".snakemake"]),
        (["--dry-run"], [".snakemake"]),
        (["--lint"], []),
    ],
)
def test_what_a_call_writes_must_be_writable_and_nothing_else(tmp_path, monkeypatch, argv, in_the_way):
    monkeypatch.chdir(tmp_path)
    campaign = load_campaign({"backend": "cpu", "ops": ["mm"]})
    found = []
    for name in (".snakemake", "logs", "results"):
        (tmp_path / name).touch()
        try:
            _check_run_folder(campaign, argv)
        except MachineError:
            found.append(name)
        (tmp_path / name).unlink()
    assert found == in_the_way
