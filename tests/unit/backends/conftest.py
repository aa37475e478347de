from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tests

DATA = tests.DATA / "backends"


@pytest.fixture
def answer() -> Callable[[str], str]:
    """A vendor tool's real output, in numbers of our own."""
    return lambda name: (DATA / name).read_text()


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put a vendor tool on an otherwise empty PATH: a script that says `text` and exits with `code`."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def install(name: str, text: str = "", code: int = 0) -> None:
        (tmp_path / f"{name}.out").write_text(text)
        script = tmp_path / name
        script.write_text(
            f"#!/bin/sh\nwhile IFS= read -r l; do echo \"$l\"; done < '{tmp_path}/{name}.out'\nexit {code}\n"
        )
        script.chmod(0o755)

    return install
