"""The names and forms that callers of the first zl_bench rely on: theirs is this contract, not the chain's.

Whoever changes one of them breaks scripts outside this repository. Where a form is looser than what a campaign goes
through, the test says which guard refuses the same input.
"""

from __future__ import annotations

import ast
import json
from importlib import import_module

import pytest

from zlbench_core.backends import get_backend
from zlbench_core.caliber import caliber_complaints, caliber_hazards
from zlbench_core.caliber.fields import CALIBER_FIELDS
from zlbench_core.caliber.guard import incomparable
from zlbench_core.campaign.load import default_config, load_campaign
from zlbench_core.common.places import PACKAGE
from zlbench_core.errors import CaliberMismatch, ConfigError, IdentityError, PinsError
from zlbench_core.pins.pins import load_pins
from zlbench_core.plugins import cudagraph
from zlbench_core.plugins.autotune_record import _replay_backend_ok, make_mode
from zlbench_core.providers.flaggems import flaggems_vendor, parse_test_node
from zlbench_core.records.identity import load_identity
from zlbench_core.records.run_env import RunEnv
from zlbench_core.results import _report_caliber, report_ab, resolve_device_arg

NAMES = {
    "zlbench_core.caliber": ("caliber_complaints", "caliber_hazards"),
    "zlbench_core.caliber.guard": ("caliber_complaints", "caliber_hazards"),
    "zlbench_core.campaign.values": ("resolve_device_arg",),
    "zlbench_core.plugins.autotune_record": ("_replay_backend_ok",),
    "zlbench_core.plugins.cudagraph": ("run_direct",),
    "zlbench_core.providers.flaggems": ("flaggems_vendor", "parse_test_node"),
    "zlbench_core.results": ("_report_caliber", "report_ab", "resolve_device_arg"),
    "zlbench_core.results.ab": ("_report_caliber", "report_ab"),
}
OLD = {
    "backend": "cuda",
    "device": "NVIDIA H200",
    "timer": "cuda_graph",
    "bench_level": "core",
    "shape_mode": "upstream",
    "tuner_cache": "isolated",
    "direct_repeat": 1,
    "autotune_mode": "replay",
}
LOG = """
Operator: mm  Performance Test (dtype=torch.float32, mode=kernel,level=core)
Status       Torch Latency (ms)    Gems Latency (ms)         Gems Speedup          Size Detail
-----------------------------------------------------------------------------------------------
SUCCESS                    N/A            {ms:.6f}                 N/A          [torch.Size([8, 8])]
.
============================== 1 passed in 1.00s ===============================
"""


@pytest.mark.parametrize(("home", "name"), [(home, name) for home in NAMES for name in NAMES[home]])
def test_a_name_is_found_at_its_home(home, name):
    assert callable(getattr(import_module(home), name))


def test_a_home_has_no_other_name():
    with pytest.raises(AttributeError, match="has no attribute 'caliber'"):
        _ = import_module("zlbench_core.caliber.guard").caliber


def test_the_chain_never_goes_through_the_door():
    forms = {"caliber_complaints", "caliber_hazards", "flaggems_vendor", "replay_backend_ok", "report_ab"}
    homes = {f"{name.replace('.', '/')}.py" for name in NAMES} | {
        f"{name.replace('.', '/')}/__init__.py" for name in NAMES
    }
    callers = set()
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE.parent).as_posix()
        if place in homes or path.name == "door.py":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        called = {getattr(node, "attr", getattr(node, "id", None)) for node in ast.walk(tree)}
        imported = {
            alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
        }
        callers |= {f"{place} uses {name}" for name in forms & (called | imported)}
    assert callers == set()


@pytest.fixture
def runs(tmp_path):
    """Folders of two runs, by label, whose identities hold what is given and no schema version."""

    def make(changes_a=None, changes_b=None):
        for name, ms, changes in (("a", 0.2, changes_a), ("b", 0.1, changes_b)):
            folder = tmp_path / name
            folder.mkdir(exist_ok=True)
            (folder / "run_identity.json").write_text(json.dumps({**OLD, **(changes or {})}))
            (folder / "run.log").write_text(LOG.format(ms=ms))
        return [("a", tmp_path / "a"), ("b", tmp_path / "b")]

    return make


def the_strict_guard_refuses(runs) -> None:
    assert incomparable(runs, []) != []
    whole = [(label, json.loads((folder / "run_identity.json").read_text())) for label, folder in runs]
    assert any(line.startswith("harness: not recorded by a, b") for line in incomparable(whole, []))
    with pytest.raises(IdentityError, match="schema_version None"):
        load_identity(runs[0][1])


def test_equal_calibers_alone_have_no_complaint_here_and_are_no_comparison_for_the_chain(runs):
    assert caliber_complaints(runs()) == []
    assert caliber_complaints([("a", OLD), ("b", OLD)]) == []
    assert caliber_hazards(runs()) == []
    the_strict_guard_refuses(runs())


@pytest.mark.parametrize("field", CALIBER_FIELDS)
@pytest.mark.parametrize("value", ["another", None])
def test_another_caliber_is_a_complaint_here_too(runs, field, value):
    [line] = caliber_complaints(runs(None, {field: value}))
    assert line.startswith(f"{field}:")


def test_a_record_that_pins_a_replay_has_no_complaint_here_and_is_no_comparison_for_the_chain(runs):
    given = runs({"autotune_mode": "record"}, {"autotune_mode": "replay"})
    assert caliber_complaints(given) == []
    the_strict_guard_refuses(given)
    modes = [("a", OLD | {"autotune_mode": "record"}), ("b", OLD)]
    assert incomparable(modes, [])[0].startswith("autotune_mode: a ran as a record")


def test_record_against_record_is_a_complaint_here_too(runs):
    [line] = caliber_complaints(runs({"autotune_mode": "record"}, {"autotune_mode": "record"}))
    assert "record against record" in line


def test_a_shared_cache_is_a_hazard_here_and_is_no_comparison_for_the_chain(runs):
    shared = {"autotune_mode": "record", "tuner_cache": "shared:/x"}
    given = runs(shared, {"tuner_cache": "shared:/x"})
    [line] = caliber_hazards(given)
    assert line.startswith("tuner_cache: a records winners on shared:/x")
    assert caliber_complaints(given) == []
    the_strict_guard_refuses(given)


def test_an_identity_of_ours_is_read_strictly_here_too(runs, tmp_path):
    given = runs({"schema_version": 1, "device": ["H200"]})
    assert caliber_complaints(given)[0].startswith("run_identity: a: ")
    (tmp_path / "b" / "run_identity.json").unlink()
    assert [line.split(":")[1] for line in caliber_complaints(given) if line.startswith("run_identity")] == [
        " a",
        " b",
    ]


def test_the_caliber_of_an_operator_is_reported(runs, capsys):
    assert _report_caliber(runs(), "mm") == []
    other = runs(None, {"timer": "direct"})
    with pytest.raises(CaliberMismatch, match=r"^mm: timer: a=cuda_graph, b=direct"):
        _report_caliber(other, "mm", strict=True)
    assert capsys.readouterr().err == ""
    assert len(_report_caliber(other, "mm", strict=False)) == 1
    assert capsys.readouterr().err.startswith("!!! [caliber] timer: a=cuda_graph, b=direct")


def test_two_logs_are_compared_here_and_are_no_comparison_for_the_chain(runs, capsys):
    (_, a), (_, b) = runs()
    [row] = report_ab(a / "run.log", b / "run.log", "mm")
    assert row.ratio == 0.5
    the_strict_guard_refuses(runs())
    runs(None, {"timer": "direct"})
    with pytest.raises(CaliberMismatch, match="timer"):
        report_ab(a / "run.log", b / "run.log", "mm", strict=True)
    [row] = report_ab(a / "run.log", b / "run.log", "mm", strict=False)
    assert "!!! [caliber] timer" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "here", "ok"),
    [
        (None, "cuda", True),
        ({"backend": "cuda"}, "nvidia", True),
        ({"backend": "musa"}, "cuda", False),
        ({}, "cuda", True),
    ],
)
def test_pins_are_asked_for_their_backend_alone_here_and_a_replay_refuses_their_meta(
    tmp_path, monkeypatch, content, here, ok
):
    (tmp_path / "pins.json").write_text('{"schema_version": 1, "entries": []}')
    if content is not None:
        (tmp_path / "meta.json").write_text(json.dumps(content))
    monkeypatch.setenv("ZL_BACKEND", here)
    assert _replay_backend_ok(tmp_path) is ok
    with pytest.raises(PinsError):
        load_pins(tmp_path)
    if content is not None:
        with pytest.raises(PinsError, match="schema_version None"):
            make_mode(RunEnv.read({"REPLAY_FROM": str(tmp_path), "ZL_BACKEND": here}))


def test_a_meta_that_is_no_json_is_refused_here_too(tmp_path):
    (tmp_path / "meta.json").write_text("{")
    with pytest.raises(PinsError, match="cannot be read"):
        _replay_backend_ok(tmp_path)


def test_a_vendor_is_asked_by_name_or_by_backend_and_a_campaign_by_name_alone():
    assert flaggems_vendor(get_backend("musa")) == flaggems_vendor("mthreads") == "musa"
    with pytest.raises(ConfigError, match="backend cpu has no FlagGems vendor"):
        flaggems_vendor(get_backend("cpu"))
    with pytest.raises(ConfigError, match="backend is "):
        load_campaign({**default_config(), "backend": get_backend("cuda")})


def test_a_node_is_a_mapping():
    node = "/x/FlagGems/benchmark/test_blas.py::test_mm"
    assert parse_test_node(node) == {
        "op": "mm",
        "op_file": "blas",
        "flaggems_dir": "/x/FlagGems",
        "test_file": node,
    }
    with pytest.raises(ConfigError, match="is not understood"):
        parse_test_node("benchmark/test_mm.py")


@pytest.mark.parametrize(("quantiles", "mode"), [([0.5, 0.2, 0.8], "mean"), (None, "all"), ([0.5], "median")])
@pytest.mark.parametrize("answer", [0.3, [0.3, 0.2, 0.4]])
def test_where_a_sequence_is_asked_for_the_direct_timer_is_called_once_whatever_it_answers(
    monkeypatch, quantiles, mode, answer
):
    calls = []
    monkeypatch.setattr(cudagraph, "_ORIGINAL_DO_BENCH", lambda fn, **how: calls.append(how) or answer)
    monkeypatch.setenv("ZL_DIRECT_REPEAT", "5")
    assert cudagraph.run_direct(print, 7, 9, None, quantiles, mode) is answer
    assert len(calls) == 1
    calls.clear()
    assert cudagraph.run_direct(print, 7, 9, None, None, "median") == answer
    assert len(calls) == (1 if isinstance(answer, list) else 5)


@pytest.mark.parametrize(("devices", "device", "found"), [("0,1", None, "0,1"), (None, 0, 0), ("", "", None)])
def test_devices_and_their_alias_are_one(devices, device, found):
    assert resolve_device_arg(devices, device) == found


def test_devices_and_their_alias_are_not_both_set():
    with pytest.raises(ValueError, match="are both set"):
        resolve_device_arg("0", "1")
