"""Which pytest plugins a run loads, and in which order."""

from __future__ import annotations

import os
from collections.abc import Sequence

from zlbench_core.backends import get_backend
from zlbench_core.records.run_env import EXTRA_PLUGINS

PACKAGE = "zlbench_core.plugins"


def plan_plugins(
    backend: str,
    extra: Sequence[str] | None = None,
    *,
    enable_autotune: bool = True,
    enable_ir: bool = True,
    enable_mm_cluster: bool = True,
    enable_duet: bool = False,
) -> list[str]:
    """Module names in loading order; `extra=None` reads ZL_EXTRA_PLUGINS (comma separated).

    Compat plugins come first, since they rewrite markers while tests are collected. cudagraph is not here: timing
    loads it. mm_cluster_fix follows the tuner's plugin's switch of its own and the backend's capability.
    Raises UnknownBackendError.
    """
    device = get_backend(backend)
    names = ["duet"] if enable_duet else []
    names += [*device.compat_plugins, "device_setup", "seeds", "timing"]
    names += ["autotune_record"] if enable_autotune else []
    names += ["mm_cluster_fix"] if enable_mm_cluster and device.supports_mm_cluster_fix else []
    names += ["ir_archive"] if enable_ir else []
    if extra is None:
        extra = [name for name in os.environ.get(EXTRA_PLUGINS, "").split(",") if name]
    return [f"{PACKAGE}.{name}" for name in names] + list(extra)
