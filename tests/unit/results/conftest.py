from __future__ import annotations

import json
from pathlib import Path

import pytest

import tests

DATA = tests.DATA / "flaggems-h200"

TITLE = "\nOperator: {op}  Performance Test (dtype={dtype}, mode=kernel,level=core)\n"
HEADER = "Status       Torch Latency (ms)    Gems Latency (ms)         Gems Speedup          Size Detail\n"


@pytest.fixture
def h200() -> Path:
    """Real runs on an H200, see the README in the folder."""
    return DATA


@pytest.fixture
def make_log(tmp_path):
    """A log with the given text; returns its path."""

    def make(text: str | bytes, name: str = "run.log") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return make


@pytest.fixture
def make_run(tmp_path):
    """A run folder with a log, a result.json and an identity, each only where it is given."""

    def make(name: str = "run", log=None, report=None, identity=None) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        if log is not None:
            (folder / "run.log").write_text(log)
        if report is not None:
            (folder / "result.json").write_text(report if isinstance(report, str) else json.dumps(report))
        if identity is not None:
            (folder / "run_identity.json").write_text(json.dumps({"schema_version": 1, **identity}))
        return folder

    return make


@pytest.fixture
def block():
    return _block


@pytest.fixture
def session():
    return _session


def _block(op: str = "mm", dtype: str = "torch.float16", rows=(("[torch.Size([8])]", 0.2, 0.1),)) -> str:
    """A table as the suite prints it, rows as (size detail, torch ms, gems ms)."""
    lines = [
        f"{'SUCCESS':<10}{base:>20.6f}{latency:>20.6f}{base / latency:>20.3f}{' ' * 10}{size}\n"
        for size, base, latency in rows
    ]
    return TITLE.format(op=op, dtype=dtype) + HEADER + "-" * 95 + "\n" + "".join(lines) + "\n"


def _session(body: str, closing: str = "1 passed in 1.00s") -> str:
    """A whole log of pytest around `body`."""
    start = f"{' test session starts ':=^80}\ncollected 1 item\n\nbenchmark/test_mm.py "
    return start + body + f"\n{' ' + closing + ' ':=^80}\n"
