"""Disassembles device binaries with the tools that Triton's packages carry, without importing Triton."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_LIMIT_S = 120


@dataclass(frozen=True)
class Disassembly:
    """The instructions of a binary's code sections, or the reason why there are none."""

    instructions: tuple[str, ...] | None
    reason: str | None = None


@cache
def find_tool(name: str) -> str | None:
    """A tool by Triton's own variable for it (TRITON_NVDISASM_PATH), beside Triton's backends, or on PATH."""
    named = os.environ.get(f"TRITON_{name.upper()}_PATH")
    if named and os.access(named, os.X_OK):
        return named
    spec = importlib.util.find_spec("triton")
    folders = [Path(folder) for folder in (spec.submodule_search_locations or [])] if spec else []
    carried = (path for folder in folders for path in sorted(folder.glob(f"backends/*/bin/{name}")))
    return next((str(path) for path in carried if os.access(path, os.X_OK)), None) or shutil.which(name)


_SASS = re.compile(r"^\s*/\*[0-9a-f]+\*/\s+(?:\{\s*)?(.*?)\s*;?\s*\}?\s*$")


def disassemble_cubin(path: Path) -> Disassembly:
    """SASS, one instruction an item, without its addresses."""
    tool = find_tool("nvdisasm")
    if tool is None:
        return Disassembly(None, "nvdisasm is neither beside Triton nor on PATH")
    try:
        done = subprocess.run([tool, "-c", str(path)], capture_output=True, text=True, timeout=_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as error:
        return Disassembly(None, f"nvdisasm failed: {error}")
    if done.returncode != 0:
        return Disassembly(None, f"nvdisasm failed: {' '.join(done.stderr.split())[:300]}")
    found = (_SASS.match(line) for line in done.stdout.splitlines())
    return Disassembly(tuple(match[1] for match in found if match and match[1]))
