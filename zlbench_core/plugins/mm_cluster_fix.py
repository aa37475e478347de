"""pytest plugin: drops tuner configs whose cluster (num_ctas) the device cannot launch, and says so.

Such a config fails at launch, and a failed launch can leave the device's context unusable for the candidates
after it. Prints `MM_CLUSTER_FIX dropped=n kernel=...` and sets `mm_cluster_fix` in run_identity.json.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from zlbench_core.records.identity import update_identity
from zlbench_core.records.run_env import RunEnv

# CUDA C programming guide, thread block clusters: from compute capability 9.0 on; 8 blocks is the portable
# maximum, more needs an attribute that Triton does not set.
CLUSTER_CAPABILITY = 90
PORTABLE_CLUSTER = 8

_dropped: Counter[str] = Counter()
_original: Any = None


def max_ctas(target: Any) -> int:
    """The largest num_ctas that a Triton target can launch. An `arch` in words (gfx942) has no clusters."""
    has_clusters = isinstance(target.arch, int) and target.arch >= CLUSTER_CAPABILITY
    return PORTABLE_CLUSTER if has_clusters else 1


def pytest_configure(config: pytest.Config) -> None:
    global _original
    from triton.runtime.autotuner import Autotuner

    if _original is None:
        _original = Autotuner.prune_configs
        Autotuner.prune_configs = _prune_configs


def pytest_unconfigure(config: pytest.Config) -> None:
    global _original
    from triton.runtime.autotuner import Autotuner

    if _original is not None:
        Autotuner.prune_configs = _original
        _original = None
    _dropped.clear()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    out_dir = RunEnv.read().out_dir
    if out_dir is not None:
        facts = {"dropped": sum(_dropped.values()), "kernels": dict(sorted(_dropped.items()))}
        update_identity(out_dir, mm_cluster_fix=facts)


def _prune_configs(tuner: Any, kwargs: dict[str, Any]) -> list[Any]:
    from triton.runtime import driver

    configs = _original(tuner, kwargs)
    limit = max_ctas(driver.active.get_current_target())
    kept = [config for config in configs if config.num_ctas <= limit]
    # Nothing left: the tuner keeps what it has, and the launch's own error names the cause.
    if not kept or len(kept) == len(configs):
        return configs
    _announce(tuner.base_fn.__name__, len(configs) - len(kept))
    return kept


def _announce(kernel: str, dropped: int) -> None:
    if kernel not in _dropped:
        print(f"MM_CLUSTER_FIX dropped={dropped} kernel={kernel}", flush=True)
    _dropped[kernel] = max(_dropped[kernel], dropped)
