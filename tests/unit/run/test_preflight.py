"""What a side's interpreter must be able to do before anything is measured with it."""

from __future__ import annotations

import json
import sys

import pytest

from zlbench_core.campaign.load import load_campaign
from zlbench_core.errors import PreflightError
from zlbench_core.run import needed_packages
from zlbench_core.run.needed_packages import brought_by, missing_here, missing_line
from zlbench_core.run.preflight import check_files, preflight

GOOD = {
    "python": "3.10.13",
    "versions": {"torch": "2.13.0", "triton": "3.2.0", "pytest": "9.0", "yaml": "6.0"},
    "plugin_errors": {},
    "visible_devices": None,
}


@pytest.fixture
def check(tmp_path):
    """Preflight of a side whose interpreter answers the probe with GOOD and these changes."""

    def check(**changes):
        python = tmp_path / "python"
        python.write_text(f"#!/bin/sh\necho 'ZLBENCH_PROBE {json.dumps({**GOOD, **changes})}'\n")
        python.chmod(0o755)
        sides = {"a": {"python": str(python)}, "b": None}
        campaign = load_campaign({"backend": "cpu", "ops": ["mm"], "sides": sides})
        return preflight(campaign.check_of("a"))

    return check


LONG = "/a" * 5000  # longer than any path may be, which asking about it is an error of the system


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"shape_file": LONG}, "/a is not a file"),
        ({"sides": {"a": {"python": LONG}}}, "/a is not a file"),
        ({"suite_dirs": [LONG]}, "/a, which is not a folder"),
        ({"autotune": {"from": LONG}}, "/a/mm is not a directory"),
        ({"provider": "flaggems", "backend": "cuda", "flaggems_dir": LONG}, "/a holds no src/flag_gems"),
    ],
)
def test_a_path_that_the_system_will_not_look_at_is_refused_in_one_line(changes, told):
    campaign = load_campaign({"backend": "cpu", "ops": ["mm"], **changes})
    with pytest.raises(PreflightError, match=told):
        check_files(campaign, campaign.subject.sides[0])


def test_a_python_that_may_not_be_executed_is_refused_before_anything_runs(tmp_path):
    (tmp_path / "python").write_text("#!/bin/sh\n")
    campaign = load_campaign({"ops": ["mm"], "sides": {"a": {"python": str(tmp_path / "python")}}})
    with pytest.raises(PreflightError, match="may not be executed"):
        check_files(campaign, campaign.subject.sides[0])


def test_a_side_of_its_own_interpreter_is_recorded_with_its_versions(check):
    facts = check()
    assert (facts["python"], facts["triton"], facts["torch"]) == ("3.10.13", "3.2.0", "2.13.0")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"python": "3.9.18"}, "is Python 3.9.18; a side needs 3.10 or newer"),
        ({"versions": {**GOOD["versions"], "triton": None}}, "cannot import triton"),
        (
            {"versions": dict.fromkeys(GOOD["versions"])},
            "cannot import pytest, torch, triton and pyyaml: .*/python -m pip install pytest torch triton pyyaml",
        ),
        ({"plugin_errors": {"zlbench_core.plugins.timing": "ImportError: no"}}, "timing: ImportError: no"),
        # An old Python cannot read a plugin's source either: the version is what is said.
        ({"python": "3.9.18", "plugin_errors": {"x": "SyntaxError: no"}}, "a side needs 3.10 or newer"),
    ],
)
def test_what_an_interpreter_lacks_is_one_line(check, changes, told):
    with pytest.raises(PreflightError, match=told):
        check(**changes)


@pytest.mark.parametrize("backend", ["cpu", "cuda", "musa", "rocm", "ascend"])
def test_a_bare_install_is_told_all_that_it_lacks_before_anything_runs(monkeypatch, backend):
    """Of this interpreter, by files alone: three packages in one line, and what brings them."""
    monkeypatch.setattr(needed_packages, "find_spec", lambda name: None)
    campaign = load_campaign({"backend": backend, "ops": ["mm"]})
    with pytest.raises(PreflightError, match="cannot import pytest, torch, triton and pyyaml: ") as told:
        check_files(campaign, campaign.subject.sides[0])
    assert f"pip install 'zlbench[{backend}]' brings " in str(told.value)
    assert ("take torch and triton from the vendor of the device" in str(told.value)) == (backend != "cpu")


def test_a_package_on_a_sides_own_path_is_not_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(needed_packages, "find_spec", lambda name: None)
    for name in ("torch", "triton", "yaml"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    assert missing_here({"PYTHONPATH": f"/nowhere:{tmp_path}"}) == ["pytest"]


def test_this_environment_lacks_nothing():
    assert missing_here({}) == []


def test_each_backend_has_an_extra_and_only_the_one_without_a_device_brings_torch():
    assert {"pytest", "torch", "triton"} <= brought_by("cpu")
    for backend in ("cuda", "musa", "rocm", "ascend"):
        assert {"pytest", "torch", "triton"} & brought_by(backend) == {"pytest"}


def test_without_an_extra_of_its_own_a_backend_is_told_the_package():
    line = missing_line(sys.executable, "a", ["pytest", "torch"], "mine")
    assert line.endswith(
        f"{sys.executable} -m pip install pytest brings pytest; take torch from the vendor of the device"
    )
