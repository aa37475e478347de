"""Case A5.5: a skip guard hides a working operator."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from zlbench_core.plugins import musa_benchmark_compat
from zlbench_core.plugins.musa_benchmark_compat import PINS

Run = Callable[..., str]
REASON = "CUDA is not available"
GUARDED = """
import pytest
@pytest.mark.skipif(True, reason={reason!r})
def test_one():
    print("ran", __file__.rpartition("/")[2])
"""
MODULE_GUARD = """
import pytest
pytestmark = pytest.mark.skipif(True, reason={reason!r})
def test_one():
    print("ran", __file__.rpartition("/")[2])
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Benchmarks in a folder of FlagGems' shape: the pinned files, and another one with the same reason."""
    folder = tmp_path / "benchmark"
    folder.mkdir()
    for pin in PINS:
        (folder / pin.file).write_text(GUARDED.format(reason=pin.reason))
    (folder / "test_other.py").write_text(GUARDED.format(reason=REASON))
    return folder


@pytest.fixture
def run(suite: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run benchmarks under a vendor in a pytest session of its own, and return what it printed."""

    def start(*files: str, vendor: str | None = "mthreads") -> str:
        if vendor is not None:
            monkeypatch.setitem(sys.modules, "flag_gems", SimpleNamespace(vendor_name=vendor))
        monkeypatch.chdir(suite.parent)
        options = ["-s", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", "--rootdir=."]
        paths = [f"benchmark/{file}" for file in files] or ["benchmark"]
        pytest.main([*options, *paths], plugins=[musa_benchmark_compat])
        for name in [name for name in sys.modules if name.partition(".")[0] == "benchmark"]:
            del sys.modules[name]
        return capfd.readouterr().out

    return start


def test_only_the_pinned_file_is_lifted_though_the_reason_is_shared(run: Run) -> None:
    out = run()
    assert "ran test_fft" in out
    assert "ran test_other" not in out
    assert "MUSA_COMPAT_LIFTED benchmark/test_fft.py::test_one: 'CUDA is not available'" in out
    assert "STALE" not in out
    assert "2 passed, 1 skipped" in out


@pytest.mark.parametrize("vendor", ["nvidia", None])
def test_on_another_vendor_nothing_is_touched(vendor: str | None, run: Run) -> None:
    out = run(vendor=vendor)
    assert "3 skipped" in out
    assert "MUSA_COMPAT" not in out


def test_a_guard_on_the_whole_module_is_lifted_too(suite: Path, run: Run) -> None:
    (suite / "test_fft.py").write_text(MODULE_GUARD.format(reason=REASON))
    assert "ran test_fft" in run("test_fft.py")


@pytest.mark.parametrize("reason", ["CUDA is not available!", "cuda is not available", "Unsupported"])
def test_another_reason_is_left_and_the_pin_that_no_longer_exists_is_said_loudly(
    reason: str, suite: Path, run: Run
) -> None:
    (suite / "test_fft.py").write_text(GUARDED.format(reason=reason))
    out = run()
    assert "ran test_fft" not in out
    assert "MUSA_COMPAT_STALE test_fft.py: no skip guard with the reason 'CUDA is not available'" in out


def test_a_pinned_file_that_is_gone_is_said_loudly(suite: Path, run: Run) -> None:
    (suite / "test_fft.py").unlink()
    assert "MUSA_COMPAT_STALE test_fft.py" in run()


def test_a_pinned_file_that_was_not_asked_for_says_nothing(run: Run) -> None:
    assert "MUSA_COMPAT" not in run("test_other.py")


def test_another_guard_of_the_same_test_stays(suite: Path, run: Run) -> None:
    two = GUARDED.replace("@pytest", "@pytest.mark.skipif(True, reason='too old')\n@pytest", 1)
    (suite / "test_fft.py").write_text(two.format(reason=REASON))
    out = run()
    assert "MUSA_COMPAT_LIFTED benchmark/test_fft.py" in out
    assert "ran test_fft" not in out
