from __future__ import annotations

import ast
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("driver_cases.py")
# What another compiler can change; the interpreter is the same for both.
ON_HIP = ("tuned_kernel", "test_dot", "tensor_descriptor", "shared_memory", "default_precision", "activate")


def case_names() -> list[str]:
    body = ast.parse(CASES.read_text(encoding="utf-8")).body
    return [node.name for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]


def outcomes(target: str, folder: Path, chosen: list[str]) -> dict[str, list[str]]:
    """Case name -> the failure texts of its runs; a process has one target, so each target has a process."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["--junitxml", str(folder / "out.xml"), *(f"{CASES}::{case}" for case in chosen)]
    env = {**os.environ, "ZL_TARGET": target, "TRITON_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found: dict[str, list[str]] = {case: [] for case in chosen}
    seen = set()
    for case in ElementTree.parse(folder / "out.xml").iter("testcase"):
        name = case.attrib["name"].partition("[")[0]
        seen.add(name)
        found[name] += [str(child.text) for child in case if child.tag in ("failure", "error")]
    assert seen == set(chosen)
    return found


@pytest.fixture(scope="module")
def cuda(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    return outcomes("cuda:90", tmp_path_factory.mktemp("cuda"), case_names())


@pytest.fixture(scope="module")
def hip(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    return outcomes("hip:gfx942", tmp_path_factory.mktemp("hip"), hip_names())


def hip_names() -> list[str]:
    return [case for case in case_names() if any(word in case for word in ON_HIP)]


@pytest.mark.parametrize("case", case_names())
def test_on_cuda(cuda: dict[str, list[str]], case: str) -> None:
    assert cuda[case] == []


@pytest.mark.parametrize("case", hip_names())
def test_on_hip(hip: dict[str, list[str]], case: str) -> None:
    assert hip[case] == []
