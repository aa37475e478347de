from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import zlbench_core

BENCHMARK = """
import json, os, random
import numpy, torch

def draw(name):
    drawn = [random.random(), float(numpy.random.rand()), torch.rand(1).item(), torch.initial_seed()]
    with open("drawn.jsonl", "a") as stream:
        stream.write(json.dumps([name, *drawn]) + "\\n")

draw("import")

def test_one():
    for _ in range(int(os.environ["CALLS"])):
        torch.rand(3), random.random(), numpy.random.rand()
    draw("one")

def test_two():
    draw("two")
"""


@pytest.fixture
def draws(tmp_path: Path):
    """What the benchmark's tests draw, by test, when the first of them draws `calls` times before."""

    def run(calls: int, *plugins: str) -> dict[str, list[float]]:
        (tmp_path / "test_draws.py").write_text(BENCHMARK, encoding="utf-8")
        (tmp_path / "drawn.jsonl").unlink(missing_ok=True)
        path = str(Path(zlbench_core.__file__).parent.parent)
        command = [sys.executable, "-m", "pytest", "-q", "test_draws.py", "-p", "no:cacheprovider"]
        command += ["-c", os.devnull, "--rootdir", str(tmp_path), *plugins]
        env = {**os.environ, "PYTHONPATH": path, "CALLS": str(calls)}
        subprocess.run(command, cwd=tmp_path, env=env, check=True, capture_output=True)
        lines = (tmp_path / "drawn.jsonl").read_text(encoding="utf-8").splitlines()
        return {name: values for name, *values in map(json.loads, lines)}

    return run


def test_a_benchmark_draws_the_same_numbers_in_every_process_whatever_ran_before_it(draws) -> None:
    seeded = ("-p", "zlbench_core.plugins.seeds")
    first, second = draws(0, *seeded), draws(7, *seeded)
    assert first["import"] == second["import"], "what the file draws as it is imported"
    assert first["two"] == second["two"] == first["one"]
    assert first["one"] != second["one"], "seven draws before it, in the same test"
    bare = draws(0)
    assert bare["two"][:2] != first["two"][:2], "nobody else seeds"
