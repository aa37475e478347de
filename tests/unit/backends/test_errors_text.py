"""The cases A1.1 to A1.6 as tables: which words of an error decide, and which are only decoration."""

from __future__ import annotations

import pytest

from zlbench_core.backends import get_backend, known_backends
from zlbench_core.backends.errors_text import describe_chain, error_body

REFUSAL = "operation not permitted when stream is capturing"
LEGACY = "operation would make the legacy stream depend on a capturing blocking stream"
PREVIOUS = "operation failed due to a previous error during capture"
ILLEGAL = "an illegal memory access was encountered"
ASSERT = "device-side assert triggered"
OOM = "out of memory"

_ASYNC = "kernel errors might be asynchronously reported at some other API call"
FOOTERS = {
    "none": "",
    "cuda 2022": f"\nCUDA {_ASYNC},so the stacktrace below might be incorrect.\n"
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1.",
    "cuda 2024": f"\nCUDA {_ASYNC}, so the stacktrace below might be incorrect.\n"
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
    "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n",
    "cuda 2025": "\nSearch for `cudaErrorStreamCaptureInvalidated' in https://docs.nvidia.com/cuda/"
    "cuda-runtime-api/group__CUDART__TYPES.html for more information.\n"
    f"CUDA {_ASYNC}, so the stacktrace below might be incorrect.\n"
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
    "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
    "Device-side assertion tracking was not enabled by user.\n",
    "hip": f"\nHIP {_ASYNC}, so the stacktrace below might be incorrect.\n"
    "For debugging consider passing AMD_SERIALIZE_KERNEL=3\n"
    "Compile with `TORCH_USE_HIP_DSA` to enable device-side assertions.\n",
}


@pytest.mark.parametrize("footer", FOOTERS)
@pytest.mark.parametrize(
    ("body", "verdict"),
    [(REFUSAL, "recoverable"), (ILLEGAL, "fatal"), (ASSERT, "fatal"), (OOM, "fatal")],
)
@pytest.mark.parametrize("backend", ["cuda", "musa", "rocm"])
def test_the_verdict_depends_on_the_body_alone(backend: str, body: str, verdict: str, footer: str) -> None:
    error = RuntimeError(f"CUDA error: {body}{FOOTERS[footer]}")
    assert get_backend(backend).classify_capture_error(error) == verdict


@pytest.mark.parametrize("footer", FOOTERS)
def test_nothing_of_a_footer_is_left(footer: str) -> None:
    assert error_body(RuntimeError(f"CUDA error: {REFUSAL}{FOOTERS[footer]}")) == f"CUDA error: {REFUSAL}"


def test_footers_are_stripped_where_line_breaks_were_lost() -> None:
    flat = " ".join(f"CUDA error: {LEGACY}{FOOTERS['cuda 2025']}".split())
    assert error_body(RuntimeError(flat)) == f"CUDA error: {LEGACY}"


def chained(first: str, second: str, how: str) -> BaseException:
    try:
        try:
            raise RuntimeError(first)
        except RuntimeError as root:
            if how == "context":
                raise RuntimeError(second)  # noqa: B904 - as torch.cuda.graph's __exit__ does
            raise RuntimeError(second) from (root if how == "cause" else None)
    except RuntimeError as caught:
        return caught


@pytest.mark.parametrize(
    ("root", "how", "verdict"),
    [
        (f"CUDA error: {ILLEGAL}", "context", "fatal"),
        (f"CUDA error: {ILLEGAL}", "cause", "fatal"),
        (f"CUDA error: {ILLEGAL}", "none", "recoverable"),
        (f"CUDA error: {REFUSAL}", "context", "recoverable"),
        (f"CUDA error: {LEGACY}", "cause", "recoverable"),
    ],
)
def test_the_whole_chain_decides_and_the_worst_wins(root: str, how: str, verdict: str) -> None:
    error = chained(root, f"CUDA error: {PREVIOUS}", how)
    assert get_backend("cuda").classify_capture_error(error) == verdict


def test_fatal_beats_poisoned_in_one_chain() -> None:
    error = chained("MUSA error: unknown error", f"MUSA error: {ILLEGAL}", "context")
    assert get_backend("musa").classify_capture_error(error) == "fatal"


def test_a_chain_that_bites_its_tail_ends() -> None:
    error = RuntimeError("CUDA error: " + REFUSAL)
    other = RuntimeError(OOM)
    error.__context__, other.__context__ = other, error
    assert get_backend("cuda").classify_capture_error(error) == "fatal"


def test_both_texts_of_a_chain_are_told() -> None:
    error = chained(f"CUDA error: {LEGACY}{FOOTERS['cuda 2025']}", f"CUDA error: {PREVIOUS}", "context")
    text = describe_chain(error)
    assert text == f"RuntimeError: CUDA error: {PREVIOUS} <- RuntimeError: CUDA error: {LEGACY}"


@pytest.mark.parametrize(
    ("backend", "in_capture", "text", "verdict"),
    [
        ("musa", True, "MUSA error: unknown error", "poisoned"),
        ("musa", False, "MUSA error: unknown error", "fatal"),
        ("cuda", True, "MUSA error: unknown error", "recoverable"),
        ("cuda", False, "MUSA error: unknown error", "failed"),
        ("musa", True, "MUSA error: no CUDA-capable device is detected", "fatal"),
        ("musa", False, "MUSA error: no CUDA-capable device is detected", "environment"),
        ("cuda", False, "No CUDA GPUs are available", "environment"),
        ("rocm", False, "No HIP GPUs are available", "environment"),
        ("musa", True, "MUSA error: operation not supported", "recoverable"),
        ("musa", True, "musaGraphDebugDotPrint is not supported now!", "recoverable"),
        ("musa", True, "MUSA error: operation not permitted", "recoverable"),
        ("musa", True, f"MUSA error: {ILLEGAL}", "fatal"),
        ("cuda", False, f"CUDA error: {ASSERT}", "fatal"),
        ("cuda", False, "CUDA out of memory. Tried to allocate 2.00 GiB.", "failed"),
        ("cuda", False, "shape mismatch", "failed"),
        ("rocm", True, "HIP error: operation not permitted when stream is capturing", "recoverable"),
        ("ascend", False, "The aicore exception occurred, error code 507015", "fatal"),
    ],
)
def test_verdicts_inside_and_outside_a_capture(
    backend: str, in_capture: bool, text: str, verdict: str
) -> None:
    judge = get_backend(backend)
    classify = judge.classify_capture_error if in_capture else judge.classify_error
    assert classify(RuntimeError(text)) == verdict


@pytest.mark.parametrize(
    "text",
    [
        f"CUDA error: {ASSERT}",
        "CUDA error: unspecified launch failure",
        "CUDA error: uncorrectable ECC error encountered",
        "CUDA error: the launch timed out and was terminated",
        f"CUDA error: {ILLEGAL}",
        "CUDA error: misaligned address",
    ],
)
def test_sticky_errors_are_fatal_inside_and_outside(text: str) -> None:
    cuda = get_backend("cuda")
    assert cuda.classify_error(RuntimeError(text)) == "fatal"
    assert cuda.classify_capture_error(RuntimeError(text)) == "fatal"


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("CUDA error: uncorrectable ECC error encountered", "device"),
        ("CUDA error: no CUDA-capable device is detected", "environment"),
        (f"CUDA error: {ASSERT}", "operator"),
        ("shape mismatch", "operator"),
    ],
)
def test_hardware_and_environment_are_not_the_operators_fault(text: str, who: str) -> None:
    assert get_backend("cuda").blame(RuntimeError(text)) == who


def test_only_musa_knows_a_poisoning_text() -> None:
    assert [name for name in known_backends() if get_backend(name).words.poisoned] == ["musa"]
