from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from zlbench_core.autotune.survey import counts, survey
from zlbench_core.errors import ReadError

COMMAND = Path(__file__).parents[3] / "benchmarks" / "static_plan.py"
BASE = """
class Benchmark:
    def __init__(self, op_name, is_backward=False): ...
    def init_user_config(self): ...
    def set_shapes(self): ...
    def get_input_iter(self, dtype): raise NotImplementedError
    def run(self): ...

class Generic(Benchmark):
    def get_input_iter(self, dtype):
        yield from self.shapes
    def set_more_shapes(self): return [(1 << 20,)]
"""
TESTS = """
from . import base

class Own(base.Generic):
    def set_shapes(self): self.shapes = [(3,)]

class Late(base.Generic):
    def init_user_config(self): self.shapes = []

def helper(name): base.Generic(op_name=name).run()

def test_listed(): base.Benchmark(op_name="listed").run()
def test_more(): base.Generic(op_name="more").run()
def test_own(): Own(op_name="own").run()
def test_late(): Late(op_name="late").run()
def test_named(): helper("named")
def test_both():
    base.Generic(op_name="more").run()
    Own(op_name="own").run()

class TestGroup:
    def test_method(self): base.Generic(op_name="more").run()
"""


@pytest.fixture
def suite(tmp_path):
    folder = tmp_path / "benchmark"
    folder.mkdir()
    (folder / "base.py").write_text(BASE)
    (folder / "core_shapes.yaml").write_text("Benchmark: {shapes: [[1, 2]]}\n")
    (folder / "test_op.py").write_text(textwrap.dedent(TESTS))
    return tmp_path


def test_every_test_is_counted_once_by_what_is_known_of_its_shapes(suite):
    found = counts(survey(suite / "benchmark"))
    assert found["tests"] == 7
    assert found["by_source"] == {"unresolved": 1, "code": 3, "default": 0, "yaml": 3}
    assert found["overriding"] == {"set_shapes": 2, "init_user_config": 1, "get_input_iter": 0}
    assert found["unresolved_because"] == {"not a literal": 1}


def test_shapes_that_are_added_in_code_are_unknown_at_comprehensive_level(suite):
    found = counts(survey(suite / "benchmark"))
    assert found["exact"] == {"core": 3, "comprehensive": 1}


def test_the_command_names_the_tests_that_are_set_in_code(suite):
    command = [sys.executable, str(COMMAND), str(suite), "--list", "code"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "7 test functions in 1 files" in done.stdout
    assert "test_op.py::test_own: shapes set in code by Own.set_shapes (test_op.py:4)" in done.stdout


def test_a_folder_without_a_suite_is_one_line(tmp_path):
    with pytest.raises(ReadError, match=r"benchmark cannot be planned: .*base\.py"):
        survey(tmp_path / "benchmark")
