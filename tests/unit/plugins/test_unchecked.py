from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from zlbench_core.plugins.unchecked import UncheckedFinder

TEST = """
import pytest
import torch
from torch.testing import assert_close
import {helper}

calls = []


def launch(answer):
    calls.append(answer)
    return answer


def test_goes_on():
    assert launch(False), "not enforced"
    assert_close(torch.zeros(2, device="cuda:0"), torch.ones(2))
    {helper}.check(launch(0))
    assert torch.cuda.get_device_capability() == (9, 0)
    with open({told!r}, "w") as stream:
        stream.write(f"{{calls}} {{torch.ones(1).cuda().device}}")


def test_a_real_mistake():
    raise ValueError("still told")
"""


def run(folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    options = ["-q", "-c", os.devnull, "--rootdir", folder, "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *map(str, options), "-p", "zlbench_core.plugins.unchecked"]
    named = {"ZL_BACKEND": "cpu", "ZL_TARGET": "cuda:90", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **env}
    done = [*command, str(folder / "test_own.py")]
    return subprocess.run(
        done, env={**os.environ, **named}, capture_output=True, text=True, timeout=300, check=False
    )


def test_checks_of_results_end_no_test_and_other_mistakes_do(tmp_path: Path) -> None:
    told = tmp_path / "told"
    (tmp_path / "test_own.py").write_text(TEST.format(helper="helper_of_own", told=str(told)))
    (tmp_path / "helper_of_own.py").write_text("def check(value):\n    assert value, 'in a helper'\n")
    done = run(tmp_path, ZL_MEASURE="0")
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert "ValueError: still told" in done.stdout
    assert told.read_text() == "[False, 0] cpu"
    assert not list(tmp_path.rglob("*.pyc")), "bytecode without assertions must not outlive the run"


def test_while_measuring_assertions_stand(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text("def test_it():\n    assert 1 == 2\n")
    done = run(tmp_path, ZL_MEASURE="1")
    assert "assert 1 == 2" in done.stdout
    assert done.returncode == 1


def test_only_modules_below_the_root_lose_their_assertions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, name in (("in", "mod_inside"), ("out", "mod_outside")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{name}.py").write_text("def f():\n    assert False\n    return 1\n")
        monkeypatch.syspath_prepend(str(tmp_path / folder))
    monkeypatch.setattr(sys, "meta_path", [UncheckedFinder(tmp_path / "in"), *sys.meta_path])
    assert importlib.import_module("mod_inside").f() == 1
    with pytest.raises(AssertionError):
        importlib.import_module("mod_outside").f()
