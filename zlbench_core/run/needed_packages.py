"""What a benchmark process imports beside zlbench: which of it an interpreter lacks, and how it gets there."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec

from packaging.requirements import Requirement

from zlbench_core.common.plural import listed

DISTRIBUTIONS = {"pytest": "pytest", "torch": "torch", "triton": "triton", "yaml": "pyyaml"}  # by module


OF_A_VENDOR = {"torch", "triton"}  # what the vendor of a device ships for it


def missing_here(env: Mapping[str, str]) -> list[str]:
    """The distributions that this interpreter would not find in a process with `env`; nothing is imported."""
    path = [folder for folder in env.get("PYTHONPATH", "").split(os.pathsep) if folder]
    return [
        distribution
        for module, distribution in DISTRIBUTIONS.items()
        if not (PathFinder.find_spec(module, path) or find_spec(module))
    ]


def missing_line(python: str, side: str, lacking: Sequence[str], backend: str) -> str:
    """One line for all that `python` lacks, with what installs it."""
    return f"{python} (side {side}) cannot import {listed(lacking)}: {_advice(python, lacking, backend)}"


def _advice(python: str, lacking: Sequence[str], backend: str) -> str:
    known = brought_by(backend)
    brought = [name for name in lacking if name in known or name not in OF_A_VENDOR]
    vendors = [name for name in lacking if name not in brought]
    # In another environment no zlbench is installed whose extras pip would know.
    extra = python == sys.executable and known.issuperset(brought)
    what = f"pip install 'zlbench[{backend}]'" if extra else f"{python} -m pip install {' '.join(brought)}"
    advice = [f"{what} brings {listed(brought) if vendors else 'what is missing'}"] if brought else []
    advice += [f"take {listed(vendors)} from the vendor of the device"] if vendors else []
    return "; ".join(advice)


def brought_by(extra: str) -> set[str]:
    """The distributions that zlbench with its extra of that name asks for; none where it is not installed."""
    try:
        asked = [Requirement(line) for line in requires("zlbench") or ()]
    except PackageNotFoundError:
        return set()
    return {one.name.lower() for one in asked if one.marker is None or one.marker.evaluate({"extra": extra})}
