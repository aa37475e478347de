"""What a failed step leaves for the last lines of a campaign."""

from __future__ import annotations

import errno
import json
import os
import signal

import pytest

from zlbench_core.common.step import failure_path, step
from zlbench_core.errors import ConfigError
from zlbench_core.start.failures import failure_lines, known_failures, last_word


def fail(log, error: BaseException) -> int:
    with pytest.raises(SystemExit) as ended, step("summary", str(log)):
        raise error
    return ended.value.code


def test_only_what_failed_in_this_run_is_told_though_the_clock_stepped_back(tmp_path):
    fail(tmp_path / "old.log", ConfigError("an old mistake"))
    before = known_failures(tmp_path)
    fail(tmp_path / "new.log", ConfigError("a new mistake"))
    os.utime(failure_path(str(tmp_path / "new.log")), (1, 1))
    assert failure_lines(tmp_path, before) == ["summary: zlbench: a new mistake"]


def test_a_failure_that_comes_again_is_told_again(tmp_path):
    fail(tmp_path / "one.log", ConfigError("a mistake"))
    before = known_failures(tmp_path)
    assert failure_lines(tmp_path, before) == []
    fail(tmp_path / "one.log", ConfigError("a mistake"))
    assert failure_lines(tmp_path, before) == ["summary: zlbench: a mistake"]


def test_the_last_word_is_what_to_do_next(tmp_path):
    before = known_failures(tmp_path)
    assert last_word(tmp_path, before, unfinished=False) is None
    assert last_word(tmp_path, before, unfinished=True).startswith("zlbench: stopped before the end")
    fail(tmp_path / "one.log", ConfigError("a mistake"))
    fail(tmp_path / "two.log", ConfigError("another"))
    assert last_word(tmp_path, before, unfinished=True) == (
        "zlbench: not done. summary: zlbench: a mistake (and 1 more, named above). "
        "Once that is mended, the same command goes on from here"
    )
    assert fail(tmp_path / "three.log", KeyboardInterrupt()) == 130
    assert last_word(tmp_path, before, unfinished=True).startswith(
        "zlbench: interrupted; the same command goes on from here"
    )


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT, errno.ENOTDIR])
def test_what_the_machine_refuses_is_one_line_that_names_the_file(tmp_path, capsys, code):
    assert fail(tmp_path / "x.log", OSError(code, os.strerror(code), "results/x")) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"zlbench: results/x: {os.strerror(code)}; ")


def test_a_log_that_cannot_be_written_does_not_hide_the_cause(tmp_path, capsys):
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit), step("summary", str(tmp_path / "file" / "x.log")):
        pass
    assert "file" in capsys.readouterr().err


def test_a_fault_of_our_own_keeps_its_trace(tmp_path):
    with pytest.raises(FileNotFoundError), step("summary", str(tmp_path / "x.log")):
        (tmp_path / "gone").read_text()


def test_sigterm_ends_a_step_as_ctrl_c_does(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended, step("replay", str(tmp_path / "x.log")):
        os.kill(os.getpid(), signal.SIGTERM)
    assert ended.value.code == 130
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert "the same command goes on from here" in capsys.readouterr().err
    assert json.loads(failure_path(str(tmp_path / "x.log")).read_text())["exit_code"] == 130
