from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import zlbench_core

ROOT = Path(zlbench_core.__file__).parent.parent


@pytest.fixture(scope="session")
def run_pytest(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a benchmark process as the runner does: in the suite's folder, without the project's settings."""
    cache = tmp_path_factory.mktemp("triton")

    def run(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": str(ROOT), "ZL_BACKEND": "cpu", "TRITON_CACHE_DIR": str(cache)}
        command = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", str(folder), "-s"]
        command += ["-p", "no:cacheprovider", "--level", "core", *arguments]
        return subprocess.run(
            command, cwd=folder, env={**env, **variables}, capture_output=True, text=True, check=False
        )

    return run
