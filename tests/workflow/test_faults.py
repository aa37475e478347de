"""Faults in the files and on the machine, injected into copies of one finished campaign: the step or the plain command
ends right afterwards, and what was measured is not measured again. docs/faults.md is the table of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from zlbench_core.campaign.load import load_campaign
from zlbench_core.campaign.model import Campaign
from zlbench_core.start.mend import mend

from .played import SECRET, copy_of, started
from .run_step import die_before_renaming, limit_file_sizes, run_in_child, run_step

BROKEN_RUNS = ("add/a/r2/run_identity.json", "add/b/r1/result.json", "add/a/r1/run.log")
MADE_AGAIN = (
    "add/pins/meta.json",
    "add/pins/pins.json",
    "add/ir_gate.json",
    "ir_gate/device-0.json",
    "preflight/a.json",
    "preflight/a-*.json",
    "verdicts.json",
    "receipt.json",
    "add/record/shard-0/run_identity.json",
)


def load(campaign) -> Campaign:
    return load_campaign(campaign.config)


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def copied(finished, tmp_path, monkeypatch):
    """Makes a copy of the finished campaign, and goes there."""

    def make(**config):
        campaign = copy_of(finished, tmp_path / "copy", **config)
        monkeypatch.setenv("ZL_LOCK_DIR", str(tmp_path / "locks"))
        monkeypatch.chdir(campaign.folder)
        return campaign

    return make


def test_a_secret_of_a_side_is_in_no_file_of_the_campaign(finished):
    """Neither in results and logs nor in what Snakemake keeps; the campaign file is the user's own."""
    files = [path for path in finished.folder.rglob("*") if path.is_file() and path.name != "campaign.yaml"]
    assert any(".snakemake/metadata" in str(path) for path in files)
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    assert "SERVICE_TOKEN" in finished.path("add", "b", "r1", "header.json").read_text()


def refusals(campaign) -> list[str]:
    [operator] = json.loads(campaign.path("verdicts.json").read_text())["operators"]
    return operator["refusals"]


def test_broken_files_cost_the_broken_round_and_nothing_else(copied):
    campaign = copied()
    before = started(campaign)
    for name in ("add/a/r2/run_identity.json", "add/pins/pins.json", "ir_gate/device-0.json"):
        os.truncate(campaign.path(name), 20)
    for path in (*campaign.path("preflight").iterdir(), campaign.path("add/ir_gate.json")):
        path.write_text("not JSON")
    outcome = campaign()
    assert outcome.code == 0, outcome.text[-3000:]
    assert "Traceback" not in outcome.text
    assert "add/a/r2/run_identity.json" in outcome.err
    assert "the pins are merged again from its record" in outcome.err
    after = started(campaign)
    assert {run for run in before if before[run] != after[run]} == {"add/a/r2", "add/b/r2"}
    assert refusals(campaign) == []


@pytest.mark.parametrize("name", [*BROKEN_RUNS, *MADE_AGAIN])
@pytest.mark.parametrize("damage", ["truncated", "garbage", "nested", "older schema", "no schema"])
def test_what_is_broken_is_taken_away_or_made_again_and_the_rest_stays(copied, name, damage):
    campaign = copied()
    [path] = campaign.path().glob(name)
    if damage.endswith("schema"):
        if b"schema_version" not in path.read_bytes():
            pytest.skip("it has no schema version")
        found = {**json.loads(path.read_text()), "schema_version": 0}
        path.write_text(json.dumps(found if damage == "older schema" else {**found, "schema_version": None}))
    elif damage == "truncated":
        os.truncate(path, 10)
    else:
        path.write_bytes(b"\xff\x00[[[{" if damage == "garbage" else b"[" * 200_000)
    before = content(campaign.path())
    assert mend(load(campaign), campaign.path())
    after = content(campaign.path())
    broken = path.with_name("run_identity.json") if name in BROKEN_RUNS else path
    assert {other for other in before if before[other] != after.get(other)} == {
        str(broken.relative_to(campaign.path()))
    }
    assert mend(load(campaign), campaign.path()) == []


@pytest.mark.parametrize(
    ("step", "name"),
    [
        ("preflight", "preflight/a.json"),
        ("pins", "pins.json"),
        ("pins", "meta.json"),
        ("pins", "add/pins"),
        ("replay", "header.json"),
        ("replay", "run_identity.json"),
        ("replay", "shapes.yaml"),
        ("gate", "ir_gate.json"),
        ("device", "device-0.json"),
        ("summary", "ops_status.csv"),
        ("summary", "ab.csv"),
        ("summary", "summary.csv"),
        ("summary", "receipt.json"),
        ("summary", "verdicts.json"),
    ],
)
def test_a_kill_between_writing_and_renaming_leaves_a_whole_file_or_none(copied, step, name):
    campaign = copied()
    before = content(campaign.path())
    assert run_in_child(step, die_before_renaming(name)) == -signal.SIGKILL
    published = {path: text for path, text in content(campaign.path()).items() if not is_temporary(path)}
    if step != "replay":  # a run's folder is emptied before the run
        assert published.items() <= before.items()
    else:
        own = {f"add/{side}/r1/{file}" for side in "ab" for file in ("run_identity.json", "header.json")}
        assert {path for path in published if published[path] != before[path]} <= own
    mend(load(campaign), campaign.path())
    run_step(step)
    after = content(campaign.path())
    assert [path for path in after if is_temporary(path)] == []
    assert after.keys() == before.keys()
    if step != "replay":
        assert {
            path: text for path, text in after.items() if path != "receipt.json"
        }.items() <= before.items()


def only_line(capfd) -> str:
    [line] = capfd.readouterr().err.splitlines()
    assert line.startswith("zlbench: ")
    return line


def is_temporary(path: str) -> bool:
    return any(part.startswith(".") for part in Path(path).parts)


def test_a_limit_on_file_sizes_is_one_line_and_harms_nothing(copied, capfd):
    campaign = copied()
    before = content(campaign.path())
    assert run_in_child("summary", limit_file_sizes(200)) == 1
    assert "File too large; raise the limit on file sizes" in only_line(capfd)
    assert content(campaign.path()) == before
    run_step("summary")


@pytest.fixture
def mounted():
    """Mounts, taken away after the test; a machine that allows none skips it."""
    targets = []

    def mount(*args: str) -> None:
        done = subprocess.run(["mount", *args], capture_output=True, check=False)
        if done.returncode:
            pytest.skip("this machine allows no mounts")
        targets.append(args[-1])

    yield mount
    for target in dict.fromkeys(targets):
        subprocess.run(["umount", target], check=True)


def test_a_full_disk_is_one_line_and_room_is_all_it_needs(copied, mounted, capfd):
    campaign = copied()
    runs = campaign.path("add", "a", "r1")
    before = content(campaign.path())
    mounted("-t", "tmpfs", "-o", "size=16k", "tmpfs", str(runs.parent))
    assert run_in_child("replay", lambda: None) == 1
    assert "No space left on device; make room and give the same command again" in only_line(capfd)
    mounted("-o", "remount,size=8m", str(runs.parent))
    run_step("replay")
    untouched = {path: text for path, text in before.items() if "/r1/" not in path and "/a/" not in path}
    assert untouched.items() <= content(campaign.path()).items()


def test_results_that_may_only_be_read_are_one_line(copied, mounted, capfd):
    campaign = copied()
    before = content(campaign.path())
    mounted("--bind", str(campaign.path()), str(campaign.path()))
    mounted("-o", "remount,ro,bind", str(campaign.path()))
    assert run_in_child("summary", lambda: None) == 1
    assert "Read-only file system; make it writable and give the same command again" in only_line(capfd)
    assert content(campaign.path()) == before


def test_a_clock_that_stepped_back_measures_nothing_again(copied):
    """What was made before the step lies in the future then: the pins are younger than the rounds that used them."""
    campaign = copied(rounds=3)
    for name in ("preflight", "add/record", "add/pins", "add/ir_gate.json"):
        for path in [campaign.path(name), *campaign.path(name).rglob("*")]:
            os.utime(path, (4e9, 4e9))
    assert campaign("-n").jobs == {"replay_round": 1, "summarise": 1, "report": 1, "all": 1}
