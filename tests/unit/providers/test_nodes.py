from __future__ import annotations

from pathlib import Path

import pytest

from tests import DATA
from zlbench_core.campaign.load import load_campaign
from zlbench_core.errors import ConfigError
from zlbench_core.providers import get_provider
from zlbench_core.providers.nodes import node_of

OWN = DATA / "own-kernels"


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("def test_mm(): ...", "test_f.py::test_mm"),
        ("def test_other(): ...", "test_f.py"),
        ("class TestIt:\n    def test_mm(self): ...", "test_f.py::TestIt::test_mm"),
        ("from elsewhere import test_it as test_mm", "test_f.py::test_mm"),
        ("test_mm = make_test()", "test_f.py::test_mm"),
        ("this is no python", "test_f.py"),
    ],
)
def test_an_operator_is_a_function_a_method_or_its_whole_file(tmp_path: Path, text: str, node: str) -> None:
    file = tmp_path / "test_f.py"
    file.write_text(text)
    assert node_of(file, "mm", whole_file=True) == node


def test_a_function_that_is_looked_for_in_another_file_is_never_that_whole_file(tmp_path: Path) -> None:
    (tmp_path / "test_f.py").write_text("def test_other(): ...")
    assert node_of(tmp_path / "test_f.py", "mm", whole_file=False) == "test_f.py::test_mm"


def test_names_with_dashes_are_operators_and_files() -> None:
    config = {
        "ops": ["vector-add", "dot", "products", "add_of_integers", "mm"],
        "op_files": {"dot": "products", "add_of_integers": "vector-add"},
        "suite_dirs": [str(OWN)],
        "sides": {"a": {}},
    }
    campaign = load_campaign(config)
    provider = get_provider("builtin")
    side = campaign.subject.side("a")
    assert [provider.invocation(campaign, side, op).node for op in campaign.subject.ops] == [
        "test_vector-add.py",
        "test_products.py::TestDot::test_dot",
        "test_products.py",
        "test_vector-add.py::test_add_of_integers",
        "test_mm.py::test_mm",
    ]
    assert provider.problems(campaign, side) == []
    for bad in ("-x", "a/b", "a.b"):
        with pytest.raises(ConfigError):
            load_campaign({**config, "ops": [bad], "op_files": {}})


def test_checks_of_results_are_dropped_for_own_files_that_only_compile() -> None:
    config = {"ops": ["vector-add"], "suite_dirs": [str(OWN)], "sides": {"a": {}}}
    for measure in (True, False):
        campaign = load_campaign({**config, "measure": measure})
        argv = get_provider("builtin").invocation(campaign, campaign.subject.side("a"), "vector-add").argv
        assert ("zlbench_core.plugins.unchecked" in argv) is not measure
