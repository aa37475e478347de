"""What pyproject.toml cannot say: a wheel brings workflow/ and config/ along, which an editable install has."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

TRAVELLING = {"workflow": "zlbench_workflow", "config": "zlbench_config"}


class BuildWithWorkflow(build_py):
    def run(self) -> None:
        if self.editable_mode:
            super().run()
            return
        shutil.rmtree(
            self.build_lib, ignore_errors=True
        )  # a wheel holds what is here, not what was here once
        super().run()
        for folder, package in TRAVELLING.items():
            left_out = shutil.ignore_patterns("__pycache__", ".*")
            shutil.copytree(folder, Path(self.build_lib, package), ignore=left_out)


setup(cmdclass={"build_py": BuildWithWorkflow})
