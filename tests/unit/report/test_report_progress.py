from __future__ import annotations

import builtins
import io
import sys

import pytest

from zlbench_core.progress import track


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    out, err = Terminal(), Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    return out, err


def test_a_terminal_sees_a_bar_on_stderr_alone(terminal):
    pytest.importorskip("rich")
    out, err = terminal
    assert list(track(iter(range(50)), "reading runs")) == list(range(50))
    assert "reading runs" in err.getvalue()
    assert out.getvalue() == ""


def test_a_log_sees_nothing(capsys):
    assert list(track(iter(range(50)), "reading runs")) == list(range(50))
    assert capsys.readouterr() == ("", "")


def test_without_rich_a_terminal_sees_nothing(terminal, monkeypatch):
    real = builtins.__import__

    def no_rich(name, *rest, **more):
        if name.startswith("rich"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", no_rich)
    assert list(track([1, 2], "reading runs")) == [1, 2]
    assert terminal[1].getvalue() == ""
