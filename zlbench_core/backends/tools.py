"""Run a vendor's device tool and read the small values in its answer."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from zlbench_core.errors import DeviceError

TIMEOUT_S = 60

UNKNOWN = frozenset(
    {"", "n/a", "na", "not supported", "unknown error", "not available", "unknown", "err!", "none"}
)


def cannot_enumerate(backend: str, why: str) -> DeviceError:
    return DeviceError(f"cannot enumerate {backend} devices: {' '.join(why.split())}")


def run_tool(backend: str, argv: Sequence[str]) -> str:
    """The standard output of a vendor tool. Raises DeviceError when it is missing, hangs or fails."""
    tool = argv[0]
    if shutil.which(tool) is None:
        raise cannot_enumerate(backend, f"{tool} is not on PATH")
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise cannot_enumerate(backend, f"{tool} gave no answer in {TIMEOUT_S} s") from None
    except OSError as error:
        raise cannot_enumerate(backend, f"{tool} cannot be run: {error}") from None
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[0]
        raise cannot_enumerate(backend, f"{tool} exited {done.returncode}: {said}")
    return done.stdout


def known(value: object) -> str | None:
    """A tool's value, or None for the many ways in which tools say that they do not know."""
    text = str(value).strip()
    return None if text.strip("[]").strip().lower() in UNKNOWN else text


def whole_number(value: object) -> int | None:
    """A tool's number, or None where the tool does not tell one."""
    text = known(value)
    return int(text) if text is not None and text.isdecimal() else None


def first_line(path: Path | str) -> str | None:
    """The first line of a small system file, or None where there is none to read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.readline().strip() or None
    except OSError:
        return None
