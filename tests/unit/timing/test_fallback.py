from __future__ import annotations

from typing import Any

import pytest

from tests.unit.timing.timing_fakes import FakeDevice
from zlbench_core.backends import get_backend
from zlbench_core.timing.callers import called_by_tuner, raised_while_tuning
from zlbench_core.timing.capture import TuningInsideCapture
from zlbench_core.timing.fallback import Attempt, attempt_capture, refusal_reason
from zlbench_core.timing.health import is_healthy
from zlbench_core.timing.samples import NoMeasurement, Samples

LEGACY = "CUDA error: operation would make the legacy stream depend on a capturing blocking stream"
PREVIOUS = "CUDA error: operation failed due to a previous error during capture"


def attempt(
    error: BaseException, backend: str = "cuda", restored: bool = True, healthy: bool = True
) -> Attempt:
    def capture() -> Samples:
        raise error

    classify = get_backend(backend).classify_capture_error
    return attempt_capture(capture, classify, lambda: restored, lambda: healthy)


def test_a_capture_that_works_gives_samples_and_no_verdict() -> None:
    samples = Samples("cuda_graph", (0.1,), flush_l2=False)
    assert attempt_capture(lambda: samples, pytest.fail, pytest.fail, pytest.fail) == Attempt(samples)


def test_a_refusal_on_a_healthy_device_is_recoverable() -> None:
    assert attempt(RuntimeError(LEGACY)) == Attempt(verdict="recoverable", reason=LEGACY)


@pytest.mark.parametrize(("restored", "healthy"), [(False, True), (True, False)])
def test_a_refusal_that_leaves_the_device_or_the_rng_broken_is_poisoned(
    restored: bool, healthy: bool
) -> None:
    judged = attempt(RuntimeError(LEGACY), restored=restored, healthy=healthy)
    assert judged.verdict == "poisoned"
    assert str(judged.error) == LEGACY


def test_what_the_health_check_itself_breaks_is_put_right_too() -> None:
    """The check runs a kernel and random numbers of its own: the row after it must find the process as it was."""
    done: list[str] = []

    def restore() -> bool:
        done.append("restore")
        return done.count("restore") == 1

    def capture() -> Samples:
        raise RuntimeError(LEGACY)

    classify = get_backend("cuda").classify_capture_error
    judged = attempt_capture(capture, classify, restore, lambda: not done.append("health"))
    assert done == ["restore", "health", "restore"]
    assert judged.verdict == "poisoned"


@pytest.mark.parametrize(
    ("backend", "text", "verdict"),
    [
        ("cuda", "CUDA error: an illegal memory access was encountered", "fatal"),
        ("cuda", "CUDA out of memory. Tried to allocate 2.00 GiB.", "fatal"),
        ("musa", "MUSA error: unknown error", "poisoned"),
    ],
)
def test_words_that_are_worse_decide_without_asking_the_device(backend: str, text: str, verdict: str) -> None:
    error = RuntimeError(text)
    judged = attempt_capture(
        lambda: (_ for _ in ()).throw(error),
        get_backend(backend).classify_capture_error,
        pytest.fail,
        pytest.fail,
    )
    assert (judged.verdict, judged.error) == (verdict, error)


def test_the_cause_that_the_context_manager_hides_is_the_reason() -> None:
    error = RuntimeError(PREVIOUS)
    error.__context__ = RuntimeError(LEGACY)
    assert attempt(error).reason == LEGACY
    error.__context__ = RuntimeError("CUDA error: an illegal memory access was encountered")
    assert attempt(error).verdict == "fatal"


def test_no_measurement_is_no_refusal() -> None:
    with pytest.raises(NoMeasurement):
        attempt(NoMeasurement("nothing was captured"))


def test_an_interrupt_is_not_judged() -> None:
    with pytest.raises(KeyboardInterrupt):
        attempt(KeyboardInterrupt())


def test_an_error_without_text_is_named_by_its_type() -> None:
    assert refusal_reason(AssertionError()) == "AssertionError"


def tuner(bench: Any) -> Any:
    """A real Triton tuner, as far as the stack can tell, that times its one config with `bench`."""
    from triton.runtime.autotuner import Autotuner

    class Tuner(Autotuner):
        def __init__(self) -> None:
            pass

        def run(self, *, tune: bool = True) -> Any:
            return self._bench() if tune else bench()

        def _bench(self, *args: Any, **options: Any) -> Any:
            return bench()

    return Tuner()


def test_a_tuner_is_told_from_a_benchmark_by_the_stack() -> None:
    assert called_by_tuner() is False
    assert tuner(called_by_tuner).run() is True


def failing() -> None:
    raise RuntimeError("CUDA error: operation not permitted when stream is capturing")


@pytest.mark.parametrize("tune", [True, False])
def test_tuning_inside_a_capture_is_named_and_a_tuned_launch_is_not(tune: bool) -> None:
    with pytest.raises(RuntimeError) as caught:
        tuner(failing).run(tune=tune)
    assert raised_while_tuning(caught.value) is tune
    assert refusal_reason(caught.value).startswith("tuning inside capture: ") is tune


def test_the_timing_plugins_own_word_for_it_is_named_too() -> None:
    error = RuntimeError(PREVIOUS)
    error.__context__ = TuningInsideCapture("a tuner met a key")
    assert refusal_reason(error).startswith("tuning inside capture: RuntimeError: CUDA error")


def test_a_device_is_healthy_when_it_runs_the_benchmark_and_answers_right(device: FakeDevice) -> None:
    interface = device.interface("MUSAGraph")
    assert is_healthy(interface, lambda: device.launch(1.0), lambda: True) is True
    assert is_healthy(interface, lambda: device.launch(1.0), lambda: False) is False
    device.poisoned_by = "MUSA error: unknown error"
    assert is_healthy(interface, lambda: None, lambda: True) is False


def test_known_values_come_back_from_the_cpu() -> None:
    from zlbench_core.timing.health import round_trip

    assert round_trip("cpu") is True
