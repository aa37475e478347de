"""Where a campaign cannot write, it says so before it starts, and where it can, it leaves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from zlbench_core.errors import MachineError
from zlbench_core.start import run_folder
from zlbench_core.start.run_folder import check_writable

WRITTEN, MADE = [".snakemake"], ["logs", "results/cpu"]


def test_a_folder_that_can_be_written_is_left_as_it_was(tmp_path):
    (tmp_path / "results").mkdir()
    check_writable(tmp_path, WRITTEN, MADE)
    assert [path.name for path in tmp_path.rglob("*")] == ["results"]


@pytest.mark.parametrize("name", [".snakemake", "logs", "results", "results/cpu"])
def test_a_file_where_a_folder_is_to_be_made_is_named(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()
    with pytest.raises(MachineError, match=f"^{tmp_path / name} cannot be written: Not a directory; make it"):
        check_writable(tmp_path, WRITTEN, MADE)


def test_what_is_there_and_may_only_be_read_is_left_to_whoever_writes_to_it(tmp_path, monkeypatch):
    for name in (*WRITTEN, *MADE):
        (tmp_path / name).mkdir(parents=True)
    tried = []
    monkeypatch.setattr(run_folder, "_try_to_write", tried.append)
    check_writable(tmp_path, WRITTEN, MADE)
    assert tried == [tmp_path / ".snakemake"]


def test_a_link_to_nowhere_is_named(tmp_path):
    (tmp_path / "results").symlink_to(tmp_path / "gone")
    with pytest.raises(MachineError, match=f"{tmp_path / 'results'} cannot be written"):
        check_writable(tmp_path, WRITTEN, MADE)


def test_a_file_system_that_takes_no_file_is_refused_whatever_its_mode_says():
    """/proc, as root too."""
    with pytest.raises(MachineError, match=r"^run folder /proc cannot be written: "):
        check_writable(Path("/proc"), WRITTEN, MADE)
