"""What several tests of the archive and the gate need beside the fixtures."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zlbench_core.ir.archive import read_variant
from zlbench_core.ir.fingerprint import VariantFacts
from zlbench_core.judge.ir.static_cost import cost_of

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


def clean_env(**more: str) -> dict[str, str]:
    named = ("TRITON_", "ZL_", "DISABLE_", "PYTEST_", "REPLAY_FROM")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(named)}
    return {**kept, "PYTHONPATH": os.pathsep.join([str(ROOT), kept.get("PYTHONPATH", "")]), **more}


def run_python(*arguments: object, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, env=dict(env), capture_output=True, text=True, timeout=120)


def static_cost(variant_dir: Path) -> dict[str, Any]:
    return cost_of(read_variant(variant_dir))


def facts(kernel: str, **changed: object) -> VariantFacts:
    fields = {
        "kernel": kernel,
        "arguments": ("x", "n", "BLOCK"),
        "signature": {"0": "*fp32", "1": "i32", "2": "constexpr"},
        "constexprs": {"2": 128},
        "attributes": {"0": [["tt.divisibility", 16]]},
        "launch": {"num_warps": 4, "num_stages": 3, "num_ctas": 1, "maxnreg": None},
        "target": {"backend": "cuda", "arch": 90, "warp_size": 32},
        "options": {"default_dot_input_precision": "tf32"},
        "shared": 0,
    }
    return VariantFacts(**{**fields, **changed})
