"""A campaign that is interrupted, and then the plain command again: it goes on, and the advice on the way is right."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from .played import copy_of, running, started


def interrupt(process, how: str) -> None:
    """As people meet it: Ctrl-C reaches the whole group, `kill` Snakemake alone."""
    alone = {"kill -2": signal.SIGINT, "kill": signal.SIGTERM, "kill -9": signal.SIGKILL}
    if how == "ctrl-c":
        os.killpg(process.pid, signal.SIGINT)
    else:
        os.kill(process.pid, alone[how])


@pytest.mark.parametrize("how", ["ctrl-c", "kill -2", "kill", "kill -9"])
def test_the_plain_command_goes_on_after_an_interruption(finished, tmp_path, how):
    campaign = copy_of(finished, tmp_path / "copy", rounds=3)
    before = started(campaign)
    flag = tmp_path / "running"
    with running(campaign, flag, PLAYER_FAULT=f"wait:{flag}") as process:
        interrupt(process, how)
        if how != "ctrl-c":  # the round in flight ends by itself
            Path(f"{flag}.leave").touch()
        _, err = process.communicate(timeout=300)
    assert process.returncode != 0
    assert "Traceback" not in err
    if how != "kill -9":
        why = "interrupted" if how == "ctrl-c" else "stopped before the end"
        last = err.splitlines()[-1]
        assert last == f"zlbench: {why}; the same command goes on from here, and what is finished stays"
    outcome = campaign()
    assert outcome.code == 0, outcome.text[-3000:]
    assert "--unlock" not in outcome.text
    assert "rerun-incomplete" not in outcome.text
    after = started(campaign)
    assert {run: when for run, when in after.items() if run in before} == before
    assert {"add/a/r3", "add/b/r3"} == after.keys() - before.keys()
    if how == "kill -9":
        assert f"Snakemake (pid {process.pid} on" in outcome.err
        assert "was killed and left its lock; it is removed, and what is finished stays" in outcome.err


def test_beside_a_live_run_every_command_names_the_run_and_changes_nothing(finished, tmp_path):
    campaign = copy_of(finished, tmp_path / "copy", rounds=3)
    flag = tmp_path / "running"
    with running(campaign, flag, PLAYER_FAULT=f"wait:{flag}") as process:
        for arguments in ((), ("--unlock",), ("--workflow-profile", "none")):
            second = campaign(*arguments)
            assert second.code == 1
            [line] = [line for line in second.err.splitlines() if line.startswith("zlbench:")]
            assert f"Snakemake (pid {process.pid} on" in line
            assert "--unlock is wrong while it lives" in line
            assert "IncompleteFilesException" not in second.text
        assert campaign("-n").jobs["replay_round"] == 1
        Path(f"{flag}.leave").touch()
        _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err


def test_a_lock_of_another_machine_is_left_to_the_user(finished, tmp_path):
    campaign = copy_of(finished, tmp_path / "copy")
    locks = campaign.folder / ".snakemake" / "locks"
    locks.mkdir()
    Path(locks / "0.input.lock").write_text("results/cpu/verdicts.json\n")
    held = campaign.folder / ".snakemake" / "zlbench.lock"
    held.write_text('{"pid": 7, "host": "node07", "since": "2026-11-30"}')
    outcome = campaign("--forcerun", "summarise")
    assert outcome.code == 1
    assert "Snakemake (pid 7 on node07)" in outcome.err
    assert "if no Snakemake runs there any more, add --unlock once" in outcome.err
    assert list(locks.iterdir())
