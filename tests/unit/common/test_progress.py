from __future__ import annotations

import builtins
import io
import sys

import pytest

from zlbench_core.common.progress import track


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def sit_at_terminal(monkeypatch):
    """Called inside a test: pytest's own capture takes the streams back after the fixtures."""

    def sit() -> tuple[Terminal, Terminal]:
        monkeypatch.setenv("TERM", "xterm")
        streams = Terminal(), Terminal()
        monkeypatch.setattr(sys, "stdout", streams[0])
        monkeypatch.setattr(sys, "stderr", streams[1])
        return streams

    return sit


def test_a_terminal_sees_a_bar_on_stderr_alone(sit_at_terminal):
    pytest.importorskip("rich")
    out, err = sit_at_terminal()
    assert list(track(iter(range(50)), "reading runs")) == list(range(50))
    assert "reading runs" in err.getvalue()
    assert out.getvalue() == ""


def test_a_log_sees_nothing(capsys):
    assert list(track(iter(range(50)), "reading runs")) == list(range(50))
    assert capsys.readouterr() == ("", "")


def test_without_rich_a_terminal_sees_nothing(sit_at_terminal, monkeypatch):
    _, err = sit_at_terminal()
    real = builtins.__import__

    def no_rich(name, *rest, **more):
        if name.startswith("rich"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", no_rich)
    assert list(track([1, 2], "reading runs")) == [1, 2]
    assert err.getvalue() == ""
