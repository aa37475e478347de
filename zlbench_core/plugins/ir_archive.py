"""Archives every kernel variant that a run compiles, under `$ZL_OUT_DIR/ir/` (format: ir/archive.py).

A recording run times all the configs of a tuner and is compared with nothing, so it has no archive.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from zlbench_core.ir.capture import capture_into
from zlbench_core.ir.writer import ArchiveWriter
from zlbench_core.records.identity import update_identity
from zlbench_core.records.run_env import RunEnv

_WENT_THROUGH = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)


@pytest.hookimpl(
    trylast=True
)  # a plugin that prepares the environment comes before the first import of Triton
def pytest_configure(config: pytest.Config) -> None:
    run = RunEnv.read()
    if run.out_dir is not None and run.autotune_mode != "record":
        config.pluginmanager.register(IrArchive(run.out_dir), "zlbench-ir-archive")


class IrArchive:
    """Captures from start to end of the session, then writes the index and the counts in the identity."""

    def __init__(self, out_dir: Path) -> None:
        self.out_dir = out_dir
        self.writer = ArchiveWriter(out_dir)
        self.stop = capture_into(self.writer)

    def pytest_sessionfinish(self, exitstatus: int | pytest.ExitCode) -> None:
        self.stop()
        if exitstatus not in _WENT_THROUGH:
            self.writer.fail(f"pytest ended early, with exit code {int(exitstatus)}")
        index = self.writer.finish()
        update_identity(self.out_dir, ir={"variants": len(index["variants"]), "stages": self.writer.stages()})
