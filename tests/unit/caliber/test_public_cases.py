"""Mistakes that others met in public, as kinds: section 6 (environment) and 7 (Snakemake) of the collected cases.

Section 4 (device lists) is in tests/unit/backends; A6.2 in tests/unit/ir; A6.3 and A6.4 where timing and results are.
"""

from __future__ import annotations

import os
import time

import pytest
from snakemake.cli import parse_config

from zlbench_core.caliber.guard import missing_fields, undeclared_differences
from zlbench_core.campaign.load import default_config, load_campaign
from zlbench_core.common.files import write_json
from zlbench_core.errors import ConfigError
from zlbench_core.records.process_environment import collect_variables
from zlbench_core.run import devices

PRECISION = {"matmul_allow_tf32": False, "cudnn_allow_tf32": False, "float32_matmul_precision": "highest"}


@pytest.fixture
def runs(tmp_path):
    def make(*environments):
        folders = [(name, tmp_path / name) for name in "ab"]
        for (_, folder), environment in zip(folders, environments, strict=True):
            write_json(folder / "run_identity.json", {"schema_version": 1, "environment": environment})
        return folders

    return make


def test_tf32_that_one_side_uses_in_cudnn_alone_is_refused(runs):
    """A6.1: the suite sets matmul's switch and leaves cudnn's."""
    given = runs({"precision": PRECISION}, {"precision": {**PRECISION, "cudnn_allow_tf32": True}})
    assert undeclared_differences(given, []) == ["environment.precision.cudnn_allow_tf32: a=False, b=True"]


def test_a_precision_that_neither_side_could_read_is_refused(runs):
    """A6.1: mixing torch's old and new switches raises, and nobody knows what is in effect."""
    unknown = {"precision": {**PRECISION, "matmul_allow_tf32": "unknown"}}
    complaints = missing_fields(runs(unknown, unknown))
    assert (
        "environment.precision.matmul_allow_tf32: not readable by a, b, and never assumed equal" in complaints
    )


def test_the_three_variables_of_flagtune_are_recorded_and_compared(runs):
    """A6.5: they choose the tuner's search space."""
    names = ("USE_FLAGTUNE", "USE_FLAGTUNE_COST_MODEL", "FLAGTUNE_INCLUDE")
    assert set(collect_variables(dict.fromkeys(names, "1"))) == set(names)
    for name in names:
        [complaint] = undeclared_differences(runs({"variables": {}}, {"variables": {name: "1"}}), [])
        assert complaint.startswith(f"environment.variables.{name}: ")


@pytest.mark.parametrize(
    "value", ["1234e5", "0012345", "1_2", "2020-10-10", "true", "nan", "12e4567", "0x10", "on"]
)
def test_a_variable_of_the_command_line_stays_the_text_it_is(value):
    """A7.1: --config changes types; in the nested form it does not, and no other form is accepted."""
    config = parse_config([f"sides={{a: {{}}, b: {{env: {{COMMIT: {value}}}}}}}"])
    campaign = load_campaign({**default_config(), **config}, overrides=config)
    assert campaign.subject.side("b").env == {"COMMIT": value}


@pytest.mark.parametrize(
    ("given", "devices"),
    [("0,1", (0, 1)), ("[0, 1]", (0, 1)), ("1", (1,)), ("GPU-12e4", ("GPU-12e4",)), ("[0012]", (12,))],
)
def test_a_device_list_of_the_command_line_means_those_devices(given, devices):
    config = parse_config([f"devices={given}"])
    assert load_campaign({**default_config(), **config}).machine.devices == devices


@pytest.mark.parametrize("op", ["1_2", "true", "2020-10-10", "12e4567"])
def test_an_operator_that_became_another_type_is_refused_or_is_its_text(op):
    config = parse_config([f"ops={op}"])
    try:
        ops = load_campaign({**default_config(), **config}).subject.ops
    except ConfigError:
        ops = ()
    assert ops in ((), (op,))


def test_jobs_of_one_device_never_overlap(monkeypatch, tmp_path):
    """A7.2: four jobs on two devices, however a scheduler starts them."""
    monkeypatch.setenv("ZL_LOCK_DIR", str(tmp_path / "locks"))
    monkeypatch.setattr(devices, "POLL_SECONDS", 0.01)
    children = [_start(job, tmp_path) for job in range(4)]
    (tmp_path / "all started").touch()
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4
    spans = sorted(tuple(map(float, path.read_text().split())) for path in tmp_path.glob("job-*"))
    assert len(spans) == 4
    for device in (0, 1):
        mine = sorted(span[1:] for span in spans if span[0] == device)
        assert mine[0][1] <= mine[1][0]


def _start(job: int, folder) -> int:
    child = os.fork()
    if child:
        return child
    try:
        while not (folder / "all started").exists():
            time.sleep(0.01)
        with devices.lease("cpu", job % 2, f"job {job}", 60):
            start = time.monotonic()
            time.sleep(0.3)
            (folder / f"job-{job}").write_text(f"{job % 2} {start} {time.monotonic()}")
        os._exit(0)
    finally:
        os._exit(1)
