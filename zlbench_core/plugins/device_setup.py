"""pytest plugin: makes the backend ready before kernels are imported, and records what the process used.

At the end of the session it sets backend, device, device_uuid, driver and environment in run_identity.json.
"""

from __future__ import annotations

import platform
import sys
from typing import Any

import pytest

from zlbench_core.backends import get_backend
from zlbench_core.backends.compile_only import disable_launches
from zlbench_core.errors import ZlbenchError
from zlbench_core.records.identity import update_identity
from zlbench_core.records.process_environment import collect_variables, compiler_build, precision
from zlbench_core.records.run_env import RunEnv

__all__ = ["collect_environment", "collect_variables"]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    run = RunEnv.read()
    try:
        get_backend(run.backend).process_activate(run.target)
    except ZlbenchError as error:
        raise pytest.UsageError(str(error)) from None
    if not run.measure:
        disable_launches()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    run = RunEnv.read()
    if run.out_dir is None:
        return
    backend = get_backend(run.backend)
    update_identity(
        run.out_dir, backend=backend.name, **backend.process_device(), environment=collect_environment()
    )


def collect_environment() -> dict[str, Any]:
    """The software of this process, read back: versions, compiler build, precision, variables in force."""
    import torch
    import triton

    return {
        "python": platform.python_version(),
        "executable": sys.executable,
        "torch": torch.__version__,
        "triton": triton.__version__,
        "triton_build": compiler_build(),
        "pytest": pytest.__version__,
        "platform": platform.platform(),
        "cpu_threads": torch.get_num_threads(),
        "precision": precision(),
        "variables": collect_variables(),
    }
