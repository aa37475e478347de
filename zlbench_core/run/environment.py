"""The environment of a benchmark process: the user's, less what would mislead it, plus what the run sets."""

from __future__ import annotations

import os
from collections.abc import Mapping

from zlbench_core.backends import apply_visibility, get_backend
from zlbench_core.backends.base import DeviceInfo
from zlbench_core.campaign.parts import Platform
from zlbench_core.campaign.sides import DeclaredSide
from zlbench_core.common.places import SIDE_PATH
from zlbench_core.providers import get_provider
from zlbench_core.records import run_env

# Snakemake sets these from a rule's `threads` (docs/snakemake.md, Devices), so that --cores would change a measurement.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "GOTO_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "JULIA_NUM_THREADS",
)
# pytest's would change what runs; the tuner database would defeat isolation; the others are ours to set.
DROPPED = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "FLAGGEMS_DB_URL", "TRITON_INTERPRET", run_env.REPLAY_FROM)


def side_environment(
    platform: Platform, side: DeclaredSide, device: DeviceInfo | None, base: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """The environment of one side on one device (None: the device that a scheduler exposed is kept)."""
    kept = {name: value for name, value in base.items() if name not in DROPPED and not name.startswith("ZL_")}
    kept |= dict.fromkeys(THREAD_VARIABLES[:4], "1")
    for name in THREAD_VARIABLES[4:]:
        kept.pop(name, None)
    if device is not None:
        backend = get_backend(platform.backend)
        kept = apply_visibility(backend, kept, backend.visibility_value(device))
        kept[run_env.DEVICE] = str(device.index)
        kept[run_env.DEVICE_UUID] = device.uuid or ""
    provider_env = get_provider(platform.provider).environment(platform, side)
    kept |= {name: value for name, value in provider_env.items() if name != "PYTHONPATH"}
    kept |= {name: value for name, value in side.env.items() if name != "PYTHONPATH"}
    kept["PYTHONPATH"] = _python_path(side, provider_env, base)
    kept[run_env.BACKEND] = platform.backend
    if platform.target:
        kept[run_env.TARGET] = platform.target
    return kept


def _python_path(side: DeclaredSide, provider_env: Mapping[str, str], base: Mapping[str, str]) -> str:
    # This zlbench comes first: another one on a side's path would bring another timer. Then the side's build.
    inherited = side.env.get("PYTHONPATH", base.get("PYTHONPATH", ""))
    parts = [str(SIDE_PATH), provider_env.get("PYTHONPATH", ""), inherited]
    return os.pathsep.join(part for part in parts if part)
