"""What a start says of runs that its campaign will replace, and when it has nothing to say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from zlbench_core.campaign.load import load_campaign
from zlbench_core.common.files import sha256_of, write_json
from zlbench_core.records.identity import identity_path, load_identity
from zlbench_core.run.plans import preflight_name, round_digest
from zlbench_core.run.source_digests import measuring_sources
from zlbench_core.start.mend import mend

SIDES = {"a": {}, "b": {"env": {"TRITON_F32_DEFAULT": "ieee"}}}
OTHER = {"dtypes": ["float16"]}


def told(runs: str, ops: str) -> str:
    made = "that another campaign or another version of zlbench made"
    return f"this campaign replaces {runs} {made} ({ops}); --directory FOLDER keeps both"


def load(**config):
    return load_campaign({"ops": ["mm", "add"], "sides": SIDES, "rounds": 3, **config})


class Folder:
    """results/cpu with finished runs that hold nothing but what a start looks at."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, folder: Path, **fields) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "run.log").write_text("")
        digests = {"run.log": sha256_of(folder / "run.log")}
        known = {
            "schema_version": 1,
            "status": "complete",
            "digests": digests,
            "harness": measuring_sources(),
        }
        write_json(identity_path(folder), {**known, **fields})

    def finish(self, campaign, rounds: int | None = None, verdict: str = "different") -> None:
        """The runs of a campaign, all rounds or `rounds` of them, a record, the gates and the preflights."""
        for op in campaign.subject.ops:
            self.run(self.root / op / "record" / "shard-0", plan=None)
            for side in campaign.subject.side_names:
                for number in range(1, (rounds or campaign.judgement.rounds) + 1):
                    self.run(self.root / op / side / f"r{number}", plan=round_digest(campaign, op))
            gate = {"schema_version": 1, "status": "complete", "op": op, "verdict": verdict}
            write_json(self.root / op / "ir_gate.json", gate)
        for side in campaign.subject.side_names:
            write_json(
                self.root / "preflight" / f"{preflight_name(campaign, side)}.json", {"status": "complete"}
            )

    def said(self, campaign) -> list[str]:
        return mend(campaign, self.root)


@pytest.fixture
def folder(tmp_path) -> Folder:
    return Folder(tmp_path / "results" / "cpu")


def test_another_campaign_is_told_how_many_runs_of_which_operators_it_replaces(folder):
    folder.finish(load())
    assert folder.said(load(**OTHER, rounds=1)) == [told("4 finished runs", "mm, add")]
    assert folder.said(load(**OTHER)) == [told("up to 12 finished runs", "mm, add")]
    assert folder.said(load(**OTHER, ops=["add"], measure=False)) == [told("2 finished runs", "add")]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"rounds": 6},
        {"ops": ["add"]},
        {"ops": ["add", "mm", "softmax"]},
        {"stopping": "two-looks"},
        {"placebo": {"ops": "identical"}},
    ],
)
def test_a_campaign_that_takes_the_runs_as_its_own_replaces_nothing(folder, changes):
    folder.finish(load())
    assert folder.said(load(**changes)) == []


def test_another_device_is_another_campaign(folder):
    folder.finish(load())
    [line] = folder.said(load(devices=[1]))
    assert line == told("up to 12 finished runs", "mm, add")


def test_another_version_of_zlbench_replaces_what_the_old_one_made(folder):
    folder.finish(load(ops=["mm"]))
    run = folder.root / "mm" / "b" / "r2"
    write_json(identity_path(run), load_identity(run) | {"harness": "an older one"})
    assert folder.said(load()) == [told("1 finished run", "mm")]


def test_rounds_of_another_campaign_that_this_one_never_came_to_stay_without_a_word(folder):
    """Its gate found equal code after round 1; without that gate it could yet come to the others."""
    folder.finish(load())
    other = load(**OTHER)
    folder.finish(other, rounds=1, verdict="identical")
    assert folder.said(other) == []
    placebo = load(**OTHER, placebo={"ops": ["mm"], "rounds": 6})
    assert folder.said(placebo) == [told("4 finished runs", "mm")]
    for op in other.subject.ops:
        os.utime(folder.root / op / "ir_gate.json", ns=(0, 0))
    assert folder.said(other) == [told("8 finished runs", "mm, add")]


def test_what_the_first_of_two_looks_left_to_another_campaign_stays_without_a_word(folder):
    folder.finish(load(ops=["mm"], rounds=16))
    other = load(**OTHER, ops=["mm"], stopping="two-looks")
    folder.finish(other, rounds=6)
    assert folder.said(other) == [told("12 finished runs", "mm")]
    write_json(folder.root / "first_look" / "device-0.json", {"rounds": {"mm": 6}})
    assert folder.said(other) == []


def test_a_run_that_is_broken_is_measured_again_and_no_longer_anybodys(folder):
    folder.finish(load(ops=["mm"], rounds=1))
    (folder.root / "mm" / "a" / "r1" / "run.log").unlink()
    broken, replaced = folder.said(load(**OTHER))
    assert broken.endswith("is not what its identity vouches for; it is measured again")
    assert replaced == told("1 finished run", "mm")


@pytest.mark.parametrize("version", [0, 2])
def test_a_run_of_another_schema_is_measured_again_and_nobodys(folder, version):
    """Without its identity, which is what a round gives, Snakemake makes the round anew."""
    folder.finish(load(ops=["mm"], rounds=1))
    path = identity_path(folder.root / "mm" / "a" / "r1")
    write_json(path, load_identity(path.parent) | {"schema_version": version})
    again, replaced = folder.said(load(**OTHER))
    assert again == f"{path} is of schema_version {version}; 1 is read; it is measured again"
    assert not path.exists()
    assert replaced == told("1 finished run", "mm")
    assert folder.said(load(**OTHER)) == [replaced]


def test_many_operators_are_one_line(folder):
    ops = [f"op{number}" for number in range(30)]
    folder.finish(load(ops=ops, rounds=1))
    [line] = folder.said(load(**OTHER, ops=ops))
    assert line == told("60 finished runs", "op0, op1, op2, op3, op4, 25 more")


def removed(path: Path) -> None:
    path.unlink()


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    os.utime(path, ns=(0, 0))


def edited(path: Path) -> None:
    path.write_text("another")


def edited_and_dated_back(path: Path) -> None:
    path.write_text("another")
    os.utime(path, ns=(0, 0))


def touched(path: Path) -> None:
    os.utime(path, (2_000_000_000, 2_000_000_000))


@pytest.mark.parametrize(
    ("change", "is_broken"),
    [
        (removed, True),
        (a_folder, True),
        (edited, True),
        (touched, False),
        (edited_and_dated_back, False),  # the summary hashes every file, a start does not
    ],
)
def test_a_file_is_broken_where_it_is_gone_or_younger_and_other_than_its_identity_says(
    folder, change, is_broken
):
    campaign = load(ops=["mm"], rounds=1)
    folder.finish(campaign)
    run = folder.root / "mm" / "b" / "r1"
    os.utime(identity_path(run), ns=(1, 1_000_000_000))
    change(run / "run.log")
    told_lines = folder.said(campaign)
    assert identity_path(run).exists() is not is_broken
    line = f"run.log in {run} is not what its identity vouches for; it is measured again"
    assert (line in told_lines) is is_broken
