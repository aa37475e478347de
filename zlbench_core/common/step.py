"""The frame of every step: a log, one line for a mistake, and a JSON that names the cause of a failure."""

from __future__ import annotations

import errno
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from zlbench_core.common.files import write_json
from zlbench_core.errors import MachineError, PreflightError, ZlbenchError

FAILURE_SUFFIX = ".failure.json"
INTERRUPTED = 130
INTERRUPTION = "zlbench: interrupted; the same command goes on from here"
# What the machine refuses and a user can mend; any other OSError is a fault of ours and keeps its trace.
_MACHINE = {
    errno.EACCES: "make it writable",
    errno.EDQUOT: "make room",
    errno.EFBIG: "raise the limit on file sizes",
    errno.ENOSPC: "make room",
    errno.ENOTDIR: "a folder is expected",
    errno.EPERM: "make it writable",
    errno.EROFS: "make it writable",
}


@contextmanager
def step(name: str, log: str) -> Iterator[None]:
    """Run one step. A ZlbenchError ends the process with its exit code and one line, in the log and on stderr.

    SIGINT and SIGTERM end the benchmark process of the step before the step itself.
    """
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        with _as_zlbench_error():
            failure_path(log).unlink(missing_ok=True)
            Path(log).parent.mkdir(parents=True, exist_ok=True)
            Path(log).write_text("", encoding="utf-8")
            yield
    except KeyboardInterrupt:
        raise SystemExit(_end(name, log, INTERRUPTION, INTERRUPTED)) from None
    except ZlbenchError as error:
        raise SystemExit(_end(name, log, error_line(error), error.exit_code)) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(name: str, log: str, line: str, exit_code: int) -> int:
    _tell(log, line)
    with suppress(OSError):
        write_json(failure_path(log), {"step": name, "line": line, "exit_code": exit_code})
    return exit_code


@contextmanager
def _as_zlbench_error() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _MACHINE:
            raise
        raise refusal(error) from None


def refusal(error: OSError) -> MachineError:
    """What the file system refused, in one line that names the file, and how to mend it where that is known."""
    advice = _MACHINE.get(error.errno or 0)
    told = f"; {advice} and give the same command again" if advice else ""
    return MachineError(f"{error.filename or 'a file'}: {error.strerror or error}{told}")


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _tell(log: str, line: str) -> None:
    print(line, file=sys.stderr, flush=True)
    with suppress(OSError):
        Path(log).write_text(line + "\n", encoding="utf-8")


def failure_path(log: Path | str) -> Path:
    return Path(log).with_suffix(FAILURE_SUFFIX)


def error_line(error: ZlbenchError) -> str:
    """The one line that a user reads; a failed preflight check carries its marker."""
    if isinstance(error, PreflightError):
        return f"PREFLIGHT_FAILED check={error.check}: {error}"
    return f"zlbench: {error}"
