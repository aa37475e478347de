"""What a measurement depends on beside the configuration, cheap enough to read while Snakemake parses."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from zlbench_core.backends import get_backend
from zlbench_core.campaign.parts import Platform
from zlbench_core.campaign.sides import DeclaredSide
from zlbench_core.common.files import sha256_of
from zlbench_core.providers import get_provider
from zlbench_core.records.process_environment import collect_variables
from zlbench_core.run.environment import side_environment
from zlbench_core.run.source_digests import measuring_sources

_read: dict[tuple[str, ...], dict[str, object]] = {}


def side_facts(
    platform: Platform, side: DeclaredSide, suite_dirs: Sequence[str] = (), shape_file: str | None = None
) -> dict[str, object]:
    """The packages, the provider's code and the shapes of one side, without starting its interpreter.

    `suite_dirs` and `shape_file` of the subject; none where no operator is asked for.

    Read once per process: a workflow of hundreds of operators asks for every job of each, and all jobs of one
    start must see the same. Whoever changes a file and looks again in one process calls `forget_facts` between.
    """
    asked = (
        json.dumps(side.declared(), sort_keys=True),
        *(platform.backend, platform.target or "", platform.provider, shape_file or ""),
        *suite_dirs,
    )
    if asked not in _read:
        _read[asked] = _side_facts(platform, side, suite_dirs, shape_file)
    return _read[asked]


def forget_facts() -> None:
    _read.clear()


def _side_facts(
    platform: Platform, side: DeclaredSide, suite_dirs: Sequence[str], shapes: str | None
) -> dict[str, object]:
    return {
        **_packages(side.python),
        **get_provider(platform.provider).facts(side, suite_dirs),
        "variables": collect_variables(side_environment(platform, side, None)),
        "shape_file": sha256_of(shapes) if shapes and os.path.isfile(shapes) else None,
    }


def machine_facts(backend: str, devices: Sequence[int | str] = ()) -> dict[str, object]:
    """The sources of zlbench, and the driver where `devices` of this machine are named.

    Where a scheduler chooses the node, the machine that plans may have no driver or another one: then the
    preflight of the node finds out.
    """
    driver = get_backend(backend).driver_version() if devices else None
    return {"driver": driver, "zlbench": measuring_sources()}


def _packages(python: str) -> dict[str, object]:
    prefix = Path(python).parent.parent
    found: dict[str, object] = {}
    for name in ("torch", "triton"):
        infos = sorted(path.name for path in prefix.glob(f"lib/python*/site-packages/{name}-*.dist-info"))
        found[name] = infos or None
    # A compiler that is rebuilt in place keeps its version: its library's size and time tell.
    libraries = sorted(prefix.glob("lib/python*/site-packages/triton/_C/libtriton*.so"))
    found["triton_library"] = [[path.stat().st_size, path.stat().st_mtime_ns] for path in libraries]
    return found
