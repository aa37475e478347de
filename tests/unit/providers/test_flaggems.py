from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from zlbench_core.campaign.load import default_config, load_campaign
from zlbench_core.errors import ConfigError
from zlbench_core.providers import get_provider
from zlbench_core.providers.flaggems import VENDOR_BY_BACKEND, emit_run_env, flaggems_vendor, parse_test_node
from zlbench_core.providers.git import tree_facts
from zlbench_core.run.plugin_plan import plan_plugins


def flaggems_campaign(root, **changes):
    return load_campaign(
        {**default_config(), "backend": "cuda", "provider": "flaggems", "flaggems_dir": str(root), **changes}
    )


@pytest.fixture
def checkout(tmp_path):
    (tmp_path / "src" / "flag_gems").mkdir(parents=True)
    (tmp_path / "benchmark").mkdir()
    (tmp_path / "benchmark" / "test_mm.py").write_text("def test_mm(): ...\n")
    return tmp_path


def test_the_vendor_table():
    assert VENDOR_BY_BACKEND == {"cuda": "nvidia", "rocm": "amd", "musa": "musa", "ascend": "ascend"}
    assert flaggems_vendor("mthreads") == "musa"
    with pytest.raises(ConfigError, match="cpu"):
        flaggems_vendor("cpu")


def test_a_node_is_taken_apart():
    node = parse_test_node("/x/FlagGems/benchmark/test_blas.py::test_mm[float16]")
    assert (node["op"], node["op_file"], node["flaggems_dir"]) == ("mm", "blas", "/x/FlagGems")


@pytest.mark.parametrize(
    "node", ["", "mm", "benchmark/test_mm.py", "benchmark/mm.py::test_mm", "x/test_mm.py::test_mm"]
)
def test_a_node_of_another_form_is_refused(node):
    with pytest.raises(ConfigError, match="expected"):
        parse_test_node(node)


def test_a_node_alone_takes_its_shapes_from_upstream():
    env = emit_run_env(
        test_node="/g/benchmark/test_mm.py::test_mm", op="other", op_file="x", flaggems_dir="/y"
    )
    assert env == {
        "OP": "mm",
        "OP_FILE": "mm",
        "FLAGGEMS_DIR": "/g",
        "TEST_FILE": "/g/benchmark/test_mm.py::test_mm",
        "SHAPE_MODE": "upstream",
        "PASS_SHAPE_FILE": "0",
    }


def test_a_plain_operator_has_its_shapes_inline():
    env = emit_run_env(op="mm", op_file="blas", flaggems_dir="/g")
    assert env["TEST_FILE"] == "/g/benchmark/test_blas.py::test_mm"
    assert (env["SHAPE_MODE"], env["PASS_SHAPE_FILE"]) == ("inline", "1")


def test_a_shape_file_is_passed_on():
    env = emit_run_env(op="mm", flaggems_dir="/g", shape_file="/s.yaml")
    assert (env["SHAPE_MODE"], env["PASS_SHAPE_FILE"]) == ("file", "1")


def test_neither_node_nor_operator_is_refused():
    with pytest.raises(ConfigError, match="expected"):
        emit_run_env()


def test_a_checkout_that_is_not_there_is_named(tmp_path):
    campaign = flaggems_campaign(tmp_path / "gone")
    [(check, line)] = get_provider("flaggems").side_problems(campaign.subject, campaign.subject.sides[0])
    assert check == "flaggems_dir"
    assert "gone" in line


def test_only_the_file_half_of_a_node_is_checked(checkout):
    provider = get_provider("flaggems")
    good = flaggems_campaign(checkout, ops=["mm"])
    assert provider.problems(good, good.subject.sides[0]) == []
    bad = flaggems_campaign(checkout, ops=["nosuch"])
    assert provider.problems(bad, bad.subject.sides[0])[0][0] == "benchmark_file"


def test_a_key_of_the_other_provider_is_refused_since_this_one_would_pass_it_over(checkout, tmp_path):
    own = flaggems_campaign(checkout, ops=["mm"], suite_dirs=[str(tmp_path)])
    [(check, line)] = get_provider("flaggems").problems(own, own.subject.sides[0])
    assert (check, "provider flaggems does not look" in line) == ("suite_dir", True)
    sides = {"a": {}, "b": {"flaggems_dir": str(checkout)}}  # nothing else differs, and nothing would
    other = load_campaign({**default_config(), "sides": sides})
    assert get_provider("builtin").side_problems(other.subject, other.subject.side("a")) == []
    [(check, line)] = get_provider("builtin").side_problems(other.subject, other.subject.side("b"))
    assert (check, "provider builtin does not look" in line) == ("flaggems_dir", True)


def test_a_source_of_the_users_own_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    (tmp_path / "test_mine.py").write_text("")
    campaign = load_campaign({**default_config(), "ops": ["mine"], "suite_dirs": [str(tmp_path)]})
    provider = get_provider("builtin")
    assert provider.problems(campaign, campaign.subject.sides[0]) == []
    # As for a user: root, who may read everything, often runs the tests.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).suffix != ".py")
    line = f"{tmp_path}/test_mine.py of suite_dirs cannot be read: Permission denied"
    assert provider.problems(campaign, campaign.subject.sides[0]) == [("suite_dir", line)]
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    [(_, line)] = provider.problems(campaign, campaign.subject.sides[0])
    assert line == f"suite_dirs names {tmp_path}, which cannot be read: Permission denied"


def test_the_run_names_the_vendor_that_the_suite_itself_takes(checkout):
    campaign = flaggems_campaign(checkout, backend="musa")
    env = get_provider("flaggems").environment(campaign.subject, campaign.subject.sides[0])
    assert env == {"PYTHONPATH": f"{checkout}/src", "GEMS_VENDOR": "mthreads"}


def test_a_builtin_operator_that_is_not_there_lists_those_that_are():
    campaign = load_campaign({**default_config(), "ops": ["nosuch"]})
    [(check, line)] = get_provider("builtin").problems(campaign, campaign.subject.sides[0])
    assert check == "op"
    assert "nosuch" in line
    assert "mm" in line
    assert "softmax" in line


def test_a_file_of_the_users_own_comes_before_the_builtin_one(tmp_path):
    (tmp_path / "test_mm.py").write_text("")
    campaign = load_campaign({**default_config(), "suite_dirs": [str(tmp_path)]})
    found = get_provider("builtin").invocation(campaign, campaign.subject.sides[0], "mm")
    assert found.test_file == tmp_path / "test_mm.py"
    assert "zlbench_core.suite.conftest" in found.argv


def test_a_dirty_tree_is_not_its_commit(tmp_path):
    def git(*args):
        subprocess.run(["git", "-C", str(tmp_path), *args], check=True, capture_output=True)

    git("init", "-q")
    (tmp_path / "x.py").write_text("1\n")
    git("add", ".")
    git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "x")
    clean = tree_facts(tmp_path)
    assert clean["dirty"] is False
    (tmp_path / "x.py").write_text("2\n")
    first = tree_facts(tmp_path)
    (tmp_path / "x.py").write_text("3\n")
    second = tree_facts(tmp_path)
    assert first["commit"] == second["commit"] == clean["commit"]
    assert len({clean["dirty"], first["dirty"], second["dirty"]}) == 3
    git("checkout", "-q", "x.py")
    assert tree_facts(tmp_path) == clean
    answers = []
    for name, text in (("own.py", "1\n"), ("own.py", "2\n"), ("shapes.yaml", "2\n")):
        (tmp_path / name).write_text(text)  # a kernel that nobody has added yet runs all the same
        answers.append(tree_facts(tmp_path)["dirty"])
    assert len({clean["dirty"], *answers}) == 4
    for name in ("own.py", "shapes.yaml"):
        (tmp_path / name).unlink()
    (tmp_path / "notes.txt").write_text("no source\n")
    assert tree_facts(tmp_path) == clean


def test_plugins_come_in_order_and_by_capability():
    assert plan_plugins("cuda", extra=[]) == [
        f"zlbench_core.plugins.{name}"
        for name in ("device_setup", "seeds", "timing", "autotune_record", "mm_cluster_fix", "ir_archive")
    ]
    musa = plan_plugins("mthreads", extra=["own"])
    assert musa[0] == "zlbench_core.plugins.musa_benchmark_compat"
    assert musa[-1] == "own"
    assert not any("mm_cluster" in name for name in musa)
    assert not any("cudagraph" in name for name in musa)


def test_plugins_can_be_left_out(monkeypatch):
    monkeypatch.setenv("ZL_EXTRA_PLUGINS", "one,two")
    names = plan_plugins("cuda", enable_autotune=False, enable_ir=False, enable_mm_cluster=False)
    assert names == [
        *(f"zlbench_core.plugins.{name}" for name in ("device_setup", "seeds", "timing")),
        "one",
        "two",
    ]


def test_a_misspelt_operator_gets_the_nearest_one_and_all_of_them(tmp_path):
    (tmp_path / "test_saxpy.py").touch()
    given = {"ops": ["sotfmax", "qqqq", "mine"], "op_files": {"mine": "saxpi"}, "suite_dirs": [str(tmp_path)]}
    campaign = load_campaign({**default_config(), **given})
    lines = [line for _, line in get_provider("builtin").problems(campaign, campaign.subject.sides[0])]
    assert lines[0].startswith(
        "operator sotfmax has no test_sotfmax.py; did you mean softmax? known are add, bmm, "
    )
    assert lines[1].startswith("operator qqqq has no test_qqqq.py; known are add, bmm, ")
    assert lines[2].startswith("operator mine has no test_saxpi.py; did you mean saxpy? ")
