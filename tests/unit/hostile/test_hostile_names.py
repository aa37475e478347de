"""Names and values with tricks reach no shell, no path outside results/, and no file that others read."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from zlbench_core.campaign.load import default_config, load_campaign
from zlbench_core.campaign.model import Campaign, RoundAsked
from zlbench_core.campaign.plan_text import read_plan
from zlbench_core.common.files import sha256_of, write_json
from zlbench_core.common.sealing import carry, looks_secret, seal_config, sealed
from zlbench_core.errors import ConfigError, DeviceError, IdentityError, ZlbenchError
from zlbench_core.providers import get_provider
from zlbench_core.records.identity import load_identity
from zlbench_core.records.vouched import check_digests
from zlbench_core.run.devices import lock_folder
from zlbench_core.run.environment import side_environment
from zlbench_core.run.plans import preflight_plan, record_plan, round_plan, summary_plan
from zlbench_core.run.preflight import check_files
from zlbench_core.run.runner import RunRequest, benchmark_argv

SECRET = "hunter2-the-secret"
TRICKS = (
    "mm; touch pwned",
    "mm$(touch pwned)",
    "`touch pwned`",
    "../../etc/passwd",
    "/etc/passwd",
    "mm\nadd",
    "mm\n",
    "<script>alert(1)</script>",
    "mm add",
    "{wildcard}",
    "-rf",
    "",
    "m\0m",
    "mm\u202e",
    "a" * 200,
)


def load(**changes) -> Campaign:
    return load_campaign({**default_config(), **changes}, source="config.yaml")


@pytest.mark.parametrize("name", TRICKS)
@pytest.mark.parametrize("key", ["ops", "op_files", "backend", "target", "level", "dtypes", "mode", "timer"])
def test_a_name_with_a_trick_is_refused_in_one_line(key, name):
    value = {"ops": [name], "op_files": {"mm": name}, "dtypes": [name]}.get(key, name)
    with pytest.raises(ZlbenchError) as error:
        load(**{key: value})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("device", ["0; touch pwned", "../../x", "GPU-\n1", "$(touch pwned)"])
def test_a_device_with_a_trick_names_no_device_and_no_file(device, monkeypatch, tmp_path):
    from zlbench_core.backends import get_backend
    from zlbench_core.run.devices import lease

    monkeypatch.setenv("ZL_LOCK_DIR", str(tmp_path / "locks"))
    with pytest.raises(DeviceError), lease("cpu", device, "test", 0):
        pass
    assert get_backend("cpu").enumerate_devices()
    assert list(lock_folder().iterdir()) == []


@pytest.mark.parametrize("folder", ["own; touch pwned", "own dir", "$(touch pwned)", "own<b>", "own'\""])
def test_a_folder_with_a_trick_is_one_argument_of_the_benchmark(tmp_path, folder):
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "test_mine.py").write_text("def test_mine(): pass\n")
    campaign = load(ops=["mine"], suite_dirs=[str(tmp_path / folder)], shape_file=None)
    side = campaign.subject.side("a")
    check_files(campaign, side)
    invocation = get_provider("builtin").invocation(campaign, side, "mine")
    argv = benchmark_argv(RunRequest(campaign, side, "mine", tmp_path / "out", "off", 9), invocation)
    assert str(tmp_path / folder) in argv
    assert argv[0] == sys.executable


@pytest.mark.parametrize("name", ["../outside", "{root}/outside", "ir/../../outside"])
def test_an_identity_cannot_vouch_for_a_file_outside_its_run(tmp_path, name):
    run, outside = tmp_path / "run", tmp_path / "outside"
    outside.write_text("another run's")
    name = name.format(root=tmp_path)
    write_json(run / "run_identity.json", {"schema_version": 1, "digests": {name: sha256_of(outside)}})
    (run / "ir").mkdir()
    assert name in check_digests(run)


@pytest.mark.parametrize(
    "field", [{"op": ["mm"]}, {"digests": "x"}, {"round": "1"}, {"replay": {"tuned_keys": "x"}}]
)
def test_an_identity_with_a_field_of_another_type_is_none(tmp_path, field):
    write_json(tmp_path / "run_identity.json", {"schema_version": 1, **field})
    with pytest.raises(IdentityError, match=r"is expected$"):
        load_identity(tmp_path)


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("HF_TOKEN", "x", True),
        ("TRITON_API_KEY", "x", True),
        ("DB_PASSWORD", "x", True),
        ("MY_SECRET", "x", True),
        ("DB_PASSWD", "x", True),
        ("AWS_CREDENTIALS", "x", True),
        ("PROXY_AUTH", "x", True),
        ("SESSION_COOKIE", "x", True),
        ("proxy_authorization", "x", True),
        ("FLAGGEMS_URL", "postgresql://me:pw@host/db", True),
        ("TRITON_F32_DEFAULT", "ieee", False),
        ("FLAGGEMS_URL", "https://host/path@v1", False),
    ],
)
def test_what_looks_like_a_secret(name, value, secret):
    assert looks_secret(name, value) is secret
    assert (sealed(name, value) == value) is not secret


@pytest.fixture
def with_secret(monkeypatch) -> Campaign:
    monkeypatch.setenv("TRITON_CACHE_TOKEN", SECRET)
    monkeypatch.setenv("UNRELATED_PASSWORD", SECRET)
    return load(sides={"a": {"env": {"SERVICE_TOKEN": SECRET}}, "b": {"env": {"SERVICE_TOKEN": "other"}}})


def test_no_plan_and_no_json_of_a_campaign_holds_a_secret(with_secret):
    plans = [preflight_plan(with_secret, "a"), record_plan(with_secret, "mm"), round_plan(with_secret, "mm")]
    written = [*plans, summary_plan(with_secret), json.dumps(with_secret.to_json())]
    written += [json.dumps(side.declared()) for side in with_secret.subject.sides]
    assert not [text for text in written if SECRET in text]
    assert with_secret.subject.declared_axis() == ["env:SERVICE_TOKEN"]
    assert "sha256:" in plans[2]


def test_the_step_gets_the_secret_from_the_process_that_started_it(with_secret, monkeypatch):
    plan = round_plan(with_secret, "mm")
    with pytest.raises(ConfigError, match="SERVICE_TOKEN is sealed"):
        read_plan(plan, RoundAsked)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    for side in with_secret.subject.sides:
        carry(side.env)
    asked = read_plan(plan, RoundAsked)
    assert asked.subject.side("a").env == {"SERVICE_TOKEN": SECRET}
    env = side_environment(asked.subject, asked.subject.side("a"), None)
    assert env["SERVICE_TOKEN"] == SECRET
    assert not [name for name in env if name.startswith("ZL_SEALED_")]


def test_the_configuration_that_snakemake_hands_to_its_jobs_is_sealed():
    config = {"sides": {"a": {"env": {"HF_TOKEN": SECRET, "TRITON_X": "1"}}, "b": None}}
    given = json.loads(json.dumps(config))
    seal_config(config)
    assert SECRET not in json.dumps(config)
    assert config["sides"]["a"]["env"]["TRITON_X"] == "1"
    assert config["sides"]["b"] is None
    assert given["sides"]["a"]["env"]["HF_TOKEN"] == SECRET


def test_a_page_shows_hostile_names_as_text(tmp_path):
    """The console's tables: what no terminal may act upon becomes an escape."""
    from zlbench_core.results.console import text_table

    text = text_table([{"op": "mm\x1b]0;owned\x07\n", "reason": "<script>"}], ("op", "reason"))
    assert all(line.isprintable() for line in text.splitlines())


def test_the_lock_file_of_a_device_stays_in_its_folder(monkeypatch, tmp_path):
    from zlbench_core.backends.base import DeviceInfo
    from zlbench_core.run import devices

    class Hostile:
        def resolve_device(self, device):
            return DeviceInfo(0, "../../GPU-1\n$(touch pwned)")

    monkeypatch.setenv("ZL_LOCK_DIR", str(tmp_path / "locks"))
    monkeypatch.setattr(devices, "get_backend", lambda name: Hostile())
    with devices.lease("cpu", 0, "test", 0):
        [lock] = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert lock.parent == Path(tmp_path / "locks")
