"""Who calls a timer: a benchmark, whose rows are measured, or a tuner, which must be left alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType, TracebackType


def called_by_tuner() -> bool:
    """Whether a tuner, Triton's or one that inherits from it, stands anywhere on the stack."""
    return any(_is_tuner(frame) for frame in _stack(sys._getframe(1)))


def raised_while_tuning(error: BaseException) -> bool:
    """Whether `error` passed through a tuner that timed a config; a tuned launch passes through it too."""
    return any(
        _is_tuner(frame) and "bench" in frame.f_code.co_name for frame in _traceback(error.__traceback__)
    )


def _is_tuner(frame: FrameType) -> bool:
    autotuner = getattr(sys.modules.get("triton.runtime.autotuner"), "Autotuner", None)
    if autotuner is None or frame.f_code.co_varnames[:1] != ("self",):
        return False
    return isinstance(frame.f_locals.get("self"), autotuner)


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _traceback(trace: TracebackType | None) -> Iterator[FrameType]:
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next
