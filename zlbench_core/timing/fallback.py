"""One attempt to time a row by capture, and the verdict on it when it fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from zlbench_core.backends.errors_text import describe_chain, error_body, error_chain
from zlbench_core.errors import ZlbenchError
from zlbench_core.timing.callers import raised_while_tuning
from zlbench_core.timing.capture import TuningInsideCapture
from zlbench_core.timing.samples import NoMeasurement, Samples


class CapturePoisoned(ZlbenchError):
    """The attempt to capture ruined the process's context: nothing is measured in it any more."""


@dataclass(frozen=True)
class Attempt:
    """Samples, or the verdict on a failure: "recoverable", or "fatal" and "poisoned" with the error."""

    samples: Samples | None = None
    error: Exception | None = None
    verdict: str | None = None
    reason: str | None = None


def attempt_capture(
    capture: Callable[[], Samples],
    classify: Callable[[BaseException], str],
    restore: Callable[[], bool],
    healthy: Callable[[], bool],
) -> Attempt:
    """Capture; judge a failure by its words and, before it may pass as recoverable, by the device's health.

    `restore` puts right what a failed capture leaves in the process and says whether it could. NoMeasurement
    passes through: the capture worked, and there was nothing in it to time.
    """
    try:
        return Attempt(capture())
    except NoMeasurement:
        raise
    except Exception as error:
        verdict = classify(error)
        if verdict == "recoverable" and not (restore() and healthy() and restore()):
            verdict = "poisoned"
        # A recoverable error is not kept: its traceback would hold the graph's memory while the row is timed.
        kept = None if verdict == "recoverable" else error
        return Attempt(error=kept, verdict=verdict, reason=refusal_reason(error))


def refusal_reason(error: BaseException) -> str:
    """Why a capture was refused: the root cause on one line, and by name where it was a tuner's doing."""
    chain = error_chain(error)
    if any(isinstance(link, TuningInsideCapture) or raised_while_tuning(link) for link in chain):
        return f"tuning inside capture: {describe_chain(error)}"
    root = chain[-1]
    return error_body(root) or type(root).__name__
