"""The frame of every step: a log, one line for a mistake, and a JSON that names the cause of a failure."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zlbench_core.errors import PreflightError, ZlbenchError
from zlbench_core.files import write_json

FAILURE_SUFFIX = ".failure.json"


@contextmanager
def step(name: str, log: str) -> Iterator[None]:
    """Run one step. A ZlbenchError ends the process with its exit code and one line, in the log and on stderr."""
    failure = failure_path(log)
    failure.unlink(missing_ok=True)
    Path(log).parent.mkdir(parents=True, exist_ok=True)
    Path(log).write_text("", encoding="utf-8")
    try:
        yield
    except KeyboardInterrupt:
        line = "zlbench: interrupted; the same command goes on from here"
        Path(log).write_text(line + "\n", encoding="utf-8")
        raise SystemExit(130) from None
    except ZlbenchError as error:
        line = error_line(error)
        Path(log).write_text(line + "\n", encoding="utf-8")
        write_json(failure, {"step": name, "line": line, "exit_code": error.exit_code})
        print(line, file=sys.stderr, flush=True)
        raise SystemExit(error.exit_code) from None


def failure_path(log: str) -> Path:
    return Path(log).with_suffix(FAILURE_SUFFIX)


def error_line(error: ZlbenchError) -> str:
    """The one line that a user reads; a failed preflight check carries its marker."""
    if isinstance(error, PreflightError):
        return f"PREFLIGHT_FAILED check={error.check}: {error}"
    return f"zlbench: {error}"
