"""Disassembles device binaries with the tools that Triton's packages carry, without importing Triton."""

from __future__ import annotations

import bisect
import importlib.util
import itertools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from zlbench_core.ir.elf import Elf

_LIMIT_S = 120


@dataclass(frozen=True)
class Disassembly:
    """The instructions of a binary's code sections, or the reason why there are none."""

    instructions: tuple[str, ...] | None
    reason: str = ""


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


_SASS = re.compile(r"^\s*/\*([0-9a-f]+)\*/\s+(?:\{\s*)?(.*?)\s*;?\s*\}?\s*$")


def disassemble_cubin(path: Path) -> Disassembly:
    """SASS, one instruction an item, without its addresses."""
    lines = _nvdisasm("-c", str(path))
    if isinstance(lines, str):
        return Disassembly(None, lines)
    return Disassembly(tuple(text for _, text in _instructions(lines)))


def disassemble_cubins(paths: Sequence[Path], arch: int) -> list[Disassembly]:
    """SASS of many cubins of one architecture, branch targets as addresses, by one call of nvdisasm.

    It takes half a second to start, whatever it is given: their code sections are put one behind the other.
    Where that does not work each is disassembled by itself, which finds the reason.
    """
    codes = [_code(path) for path in paths]
    lines: list[str] | str = "no code"
    if all(codes):
        with tempfile.NamedTemporaryFile(suffix=".bin") as blob:
            blob.write(b"".join(codes))
            blob.flush()
            # The names with an "a" know the instructions that only that very architecture has (wgmma).
            lines = _nvdisasm("-b", f"SM{arch}a" if arch >= 90 else f"SM{arch}", blob.name)
    if isinstance(lines, str):
        return [disassemble_cubin(path) for path in paths]
    return [Disassembly(tuple(part)) for part in _cut(_instructions(lines), [len(code) for code in codes])]


def _nvdisasm(*arguments: str) -> list[str] | str:
    """The lines that nvdisasm prints, or the reason why there are none."""
    tool = find_tool("nvdisasm")
    if tool is None:
        return "nvdisasm is neither beside Triton nor on PATH"
    try:
        done = subprocess.run([tool, *arguments], capture_output=True, text=True, timeout=_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as error:
        return f"nvdisasm failed: {error}"
    if done.returncode != 0:
        return f"nvdisasm failed: {' '.join(done.stderr.split())[:300]}"
    return done.stdout.splitlines()


def _instructions(lines: Sequence[str]) -> list[tuple[int, str]]:
    """(address, instruction) of each line that has one."""
    found = (_SASS.match(line) for line in lines)
    return [(int(match[1], 16), match[2]) for match in found if match and match[2]]


def _code(path: Path) -> bytes:
    """The code sections of a cubin; empty where it has none or cannot be read."""
    try:
        sections = Elf(path.read_bytes()).sections
    except (OSError, ValueError):
        return b""
    return b"".join(section.content for section in sections if section.name.startswith(".text"))


def _cut(instructions: Sequence[tuple[int, str]], sizes: Sequence[int]) -> list[list[str]]:
    """The instructions by the piece in whose bytes their address lies."""
    ends = list(itertools.accumulate(sizes))
    parts: list[list[str]] = [[] for _ in sizes]
    for address, text in instructions:
        parts[bisect.bisect_right(ends, address)].append(text)
    return parts
