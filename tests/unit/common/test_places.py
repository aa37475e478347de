"""What a side of another environment sees of the one that zlbench is installed in: zlbench, and nothing beside it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from zlbench_core.campaign.load import load_campaign
from zlbench_core.common import places
from zlbench_core.providers import get_provider
from zlbench_core.run.environment import side_environment
from zlbench_core.run.preflight import PROBE


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """A site-packages with zlbench in it, and a module that no other environment must see."""
    folder = tmp_path_factory.mktemp("site-packages")
    shutil.copytree(places.PACKAGE, folder / "zlbench_core", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(
        places.WORKFLOW, folder / "zlbench_workflow", ignore=shutil.ignore_patterns("__pycache__")
    )
    (folder / "intruder.py").write_text("")
    return folder


@pytest.fixture(scope="module")
def other(tmp_path_factory) -> Path:
    """The interpreter of an environment of its own: of another Python where one is here."""
    folder = tmp_path_factory.mktemp("other")
    python = shutil.which("python3.12") or sys.executable
    if subprocess.run([python, "-m", "venv", "--without-pip", folder], check=False).returncode:
        venv.create(folder, clear=True)
    return folder / "bin" / "python"


def answer(python: Path | str, path: Path, code: str):
    env = {**os.environ, "PYTHONPATH": str(path)}
    done = subprocess.run([python, "-c", code], env=env, cwd="/", capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


LOOK = """
import importlib.util, json
import zlbench_core
from zlbench_core import errors
from zlbench_core.common import places
found = importlib.util.find_spec("intruder")
print(json.dumps([zlbench_core.__file__, errors.__file__, str(places.SCHEMAS), found is not None]))
"""


def test_another_interpreter_finds_this_zlbench_and_nothing_beside_it(installed, other):
    package = installed / "zlbench_core"
    assert answer(other, installed, LOOK)[-1], "the intruder must be one that could be seen"
    assert answer(other, package / "side_path", LOOK) == [
        str(package / "__init__.py"),
        str(package / "errors.py"),
        str(package / "campaign" / "schemas"),
        False,
    ]


def test_the_probe_of_preflight_imports_a_plugin_by_it(installed, other):
    env = {**os.environ, "PYTHONPATH": str(installed / "zlbench_core" / "side_path")}
    call = [other, PROBE, "cpu", "zlbench_core.records.run_env", "zlbench_core.gone"]
    told = subprocess.run(call, env=env, capture_output=True, text=True, check=True).stdout
    errors = json.loads(told.removeprefix("ZLBENCH_PROBE "))["plugin_errors"]
    assert list(errors) == ["zlbench_core.gone"]


def test_a_side_has_that_folder_first_then_its_own():
    sides = {"a": {"env": {"PYTHONPATH": "/mine"}}, "b": None}
    campaign = load_campaign({"backend": "cpu", "ops": ["mm"], "sides": sides})
    path = side_environment(campaign.subject, campaign.subject.side("a"), None)["PYTHONPATH"]
    assert path == f"{places.SIDE_PATH}{os.pathsep}/mine"
    assert [one.name for one in places.SIDE_PATH.iterdir()] == ["zlbench_core"]


def test_pytest_does_not_put_it_back(installed, tmp_path):
    """Pytest makes the parent of a test's package importable, and the suite's tests are in this one."""
    campaign = load_campaign({"backend": "cpu", "ops": ["softmax"]})
    argv = get_provider("builtin").invocation(campaign, campaign.subject.sides[0], "softmax").argv
    [mode] = [word for word in argv if word.startswith("--import-mode")]
    (tmp_path / "tell.py").write_text(
        "import importlib.util, sys\n"
        "def pytest_unconfigure():\n"
        "    print('SEEN', importlib.util.find_spec('intruder') is not None)\n"
    )
    suite = installed / "zlbench_core" / "suite"
    command = [
        sys.executable,
        "-m",
        "pytest",
        suite / "test_softmax.py",
        "--collect-only",
        "-q",
        "-p",
        "tell",
    ]
    command += ["-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", suite, mode]
    path = f"{installed / 'zlbench_core' / 'side_path'}{os.pathsep}{tmp_path}"
    env = {**os.environ, "PYTHONPATH": path, "ZL_BACKEND": "cpu"}
    done = subprocess.run(command, env=env, cwd=suite, capture_output=True, text=True, check=True)
    assert "test_softmax" in done.stdout
    assert "SEEN False" in done.stdout
