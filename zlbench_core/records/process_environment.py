"""What of a process's environment belongs to the caliber: compiler build, precision, variables."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from zlbench_core.backends.variables import LOCATIONS, PREFIXES
from zlbench_core.common.sealing import sealed
from zlbench_core.records.run_env import DECLARED


def collect_variables(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables of the caliber, by name: those that switch compilers and libraries, and the declared ones.

    One that looks like a secret is stored as "sha256:<digest>".
    """
    declared = environ.get(DECLARED, "").split(",")
    return {
        name: sealed(name, value)
        for name, value in sorted(environ.items())
        if (name.startswith(PREFIXES) and name not in LOCATIONS) or name in declared
    }


def compiler_build() -> str | None:
    """A digest of Triton's own key of its sources and libraries; None where this Triton has no such key."""
    for module in ("triton.runtime.cache", "triton.compiler.compiler"):
        key = getattr(import_module(module), "triton_key", None)
        if key is not None:
            return hashlib.sha256(str(key()).encode()).hexdigest()[:16]
    return None


def precision() -> dict[str, Any]:
    """The float32 precision in effect; "unknown" where reading it raises (mixing torch's two APIs does)."""
    import torch

    return {
        "matmul_allow_tf32": _read(lambda: torch.backends.cuda.matmul.allow_tf32),
        "cudnn_allow_tf32": _read(lambda: torch.backends.cudnn.allow_tf32),
        "float32_matmul_precision": _read(torch.get_float32_matmul_precision),
    }


def _read(reader: Callable[[], Any]) -> Any:
    try:
        return reader()
    except Exception:
        return "unknown"
