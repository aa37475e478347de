"""Each mistake is one line, without a trace, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import SNAKEFILE

SWITCH = {"a": {}, "b": {"env": {"TRITON_F32_DEFAULT": "ieee"}}}


@pytest.mark.parametrize(
    ("config", "names"),
    [
        ({"backend": "cdua"}, ["cdua", "musa"]),
        ({"ops": ["nosuch"]}, ["PREFLIGHT_FAILED check=op", "nosuch", "softmax"]),
        ({"ops": ["../mm"]}, ["../mm"]),
        ({"ops": ["mm; touch owned"]}, ["mm; touch owned"]),
        ({"sides": {"a": {}, "b": {"env": {1: "1"}}}}, ["sides.b.env", "the key 1, which is no text"]),
        ({"level": "extreme"}, ["extreme", "comprehensive"]),
        ({"bakend": "cpu"}, ["bakend", "did you mean backend?"]),
        ({"sides": {"a": {}, "b": {}}}, ["do not differ"]),
        ({"provider": "flaggems", "backend": "cuda"}, ["PREFLIGHT_FAILED check=flaggems_dir"]),
        (
            {"provider": "flaggems", "backend": "cuda", "flaggems_dir": "/gone"},
            ["check=flaggems_dir", "/gone"],
        ),
        ({"shape_file": "/gone.yaml"}, ["PREFLIGHT_FAILED check=shape_file", "/gone.yaml"]),
        (
            {"sides": {**SWITCH, "a": {"python": "/gone/python"}}},
            ["PREFLIGHT_FAILED check=python", "/gone/python"],
        ),
        ({"autotune": {"from": "/gone"}}, ["PREFLIGHT_FAILED check=replay_from", "/gone"]),
    ],
)
def test_a_mistake_is_one_line_before_anything_runs(campaign, config, names):
    outcome = campaign(**{"ops": ["mm"], "sides": SWITCH, **config})()
    assert outcome.code == 1
    assert "Traceback" not in outcome.text
    line = next(line for line in outcome.text.splitlines() if names[0] in line)
    assert all(name in line for name in names)
    assert outcome.jobs == {}


@pytest.mark.parametrize(
    ("config", "names"),
    [
        ({"devices": [99]}, ["PREFLIGHT_FAILED check=device", "99"]),
        ({"backend": "musa"}, ["PREFLIGHT_FAILED check=device", "mthreads-gmi"]),
    ],
)
def test_a_machine_that_lacks_something_fails_in_preflight(campaign, config, names):
    outcome = campaign(ops=["mm"], sides=SWITCH, **config)()
    assert outcome.code == 1
    assert "Preflight of side" in outcome.text
    assert "Record the autotune winners" not in outcome.text
    assert "Traceback" not in outcome.text
    told = [line for line in outcome.text.splitlines() if line.startswith("preflight: PREFLIGHT_FAILED")]
    assert len(told) == 1
    assert all(name in told[0] for name in names)
    last = outcome.err.splitlines()[-1]
    said, _, log = last.partition("; Snakemake's log: ")
    assert said == f"zlbench: not done. {told[0]}. Once that is mended, the same command goes on from here"
    assert Path(log).read_text() == outcome.log
    assert "[failed] Preflight of side" in outcome.err
    assert "CalledProcessError" not in outcome.text, "the step has said what it was"
    assert "Error in rule check_side" in outcome.log


def test_what_a_file_says_twice_is_refused_and_what_has_no_use_is_told(tmp_path):
    def dry_run(content: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "own.yaml").write_text(content)
        command = [sys.executable, "-m", "snakemake", "--snakefile", str(SNAKEFILE), "-n", "--cores", "1"]
        command += ["--directory", str(tmp_path), "--configfile", str(tmp_path / "own.yaml")]
        return subprocess.run(command, env={**os.environ}, capture_output=True, text=True, check=False)

    given = "ops: [mm]\nrounds: 6\nsides: {a: {}, b: {env: {X: '1'}}}\nduet: {seed: 2}\n"
    done = dry_run(given)
    assert done.returncode == 0, done.stderr
    assert "zlbench: duet is set, and protocol is rounds: nothing of it is used\n" in done.stderr
    done = dry_run(given + "rounds: 7\n")
    assert done.returncode == 1
    assert f"zlbench: key rounds stands twice in {tmp_path}/own.yaml, in lines 2 and 5\n" in done.stderr


def test_a_folder_of_ones_own_needs_no_default_campaign_of_its_own(tmp_path):
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(SNAKEFILE), "--directory", str(tmp_path)]
    command += ["--cores", "1", "-n", "--config", "ops=[softmax]"]
    done = subprocess.run(command, env={**os.environ}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "softmax" in done.stdout


def zlbench_run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "zlbench_core", "run", *words]
    return subprocess.run(command, env={**os.environ}, capture_output=True, text=True, check=False)


def test_the_command_runs_the_default_campaign_in_a_folder_of_ones_own(tmp_path):
    done = zlbench_run(
        "-d", str(tmp_path / "new"), "--cores", "1", "all", "--", "-n", "--config", "ops=[softmax]"
    )
    assert done.returncode == 0, done.stderr
    assert "softmax" in done.stdout


def test_a_run_folder_that_cannot_be_written_is_one_line_of_the_workflow_too(tmp_path):
    (tmp_path / ".snakemake").touch()
    done = zlbench_run("-d", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"zlbench: {tmp_path}/.snakemake cannot be written: Not a directory; "
        "make it writable, or run elsewhere (--directory FOLDER)"
    )
    assert "Traceback" not in done.stderr


def test_what_snakemake_refuses_is_said_as_it_says_it(campaign):
    outcome = campaign(ops=["mm"], sides=SWITCH)("no_such_target")
    assert outcome.code == 1
    assert "MissingRuleException" in outcome.err
    assert "no_such_target" in outcome.err


def test_a_default_campaign_that_is_no_yaml_is_told_with_its_line(tmp_path):
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text("ops: [mm]\n\trounds: 3\n")
    words = ["--snakefile", str(SNAKEFILE), "--directory", str(tmp_path), "--cores", "1", "--dry-run"]
    done = subprocess.run([sys.executable, "-m", "snakemake", *words], capture_output=True, text=True)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    [line] = [line for line in done.stderr.splitlines() if line.startswith("zlbench: ")]
    assert "campaign file config/config.yaml is not YAML: line 2, column 1: while scanning" in line
