"""Judge a device error by its words: the whole chain, without the footers that runtimes append."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

# Every error ends with these, whatever went wrong, and they hold alarming words ("device-side assertions").
# Eras and vendors differ in blanks and prefixes: CUDA 2022, 2024 and 2025, HIP (ROCm/hip #3876), MUSA.
FOOTERS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"compile with `?torch_use_\w+_dsa`? to enable device-side assertions?\.?",
        r"search for `?\w+'? in https?://\S+ for more information\.?",
        r"\w+ kernel errors might be asynchronously reported at some other api call,\s*"
        r"so the stacktrace below might be incorrect\.?",
        r"for debugging,? consider passing \w+=\d+\.?",
        r"device-side assertion tracking was not enabled by user\.?",
    )
)

# The texts of the CUDA runtime, which the HIP and MUSA runtimes repeat behind a prefix of their own.
STICKY = (
    "illegal memory access",
    "device-side assert triggered",
    "unspecified launch failure",
    "misaligned address",
    "illegal instruction",
    "invalid program counter",
    "invalid address space",
    "hardware stack error",
    "uncorrectable ecc error",
    "the launch timed out and was terminated",
)
FATAL_IN_CAPTURE = ("out of memory",)
DEVICE_FAULT = ("uncorrectable ecc error", "gpu is lost", "fallen off the bus")


@dataclass(frozen=True)
class ErrorWords:
    """One vendor's words, in lower case. A backend adds to the shared ones only what its own runtime says."""

    sticky: tuple[str, ...] = STICKY  # every later call of the process fails too
    fatal: tuple[str, ...] = FATAL_IN_CAPTURE  # a broken row, though the process may live on
    poisoned: tuple[str, ...] = ()  # the capture itself ruined the context
    environment: tuple[str, ...] = ()  # there is no device: not the operator's doing
    device_fault: tuple[str, ...] = DEVICE_FAULT  # the hardware is at fault: not the operator's doing


def error_chain(exc: BaseException) -> list[BaseException]:
    """`exc` and what led to it, following `raise ... from` and, unless suppressed, the implicit context."""
    chain: list[BaseException] = []
    current: BaseException | None = exc
    while current is not None and current not in chain:
        chain.append(current)
        cause, context = current.__cause__, current.__context__
        current = cause or (None if current.__suppress_context__ else context)
    return chain


def error_body(exc: BaseException) -> str:
    """An exception's own text without the footers, on one line."""
    text = str(exc)
    for footer in FOOTERS:
        text = footer.sub(" ", text)
    return " ".join(text.split())


def chain_bodies(exc: BaseException) -> list[str]:
    return [error_body(link) for link in error_chain(exc)]


def mentions(exc: BaseException, words: Iterable[str]) -> bool:
    """Whether any text of the chain holds any of the (lower-case) `words`."""
    bodies = [body.lower() for body in chain_bodies(exc)]
    return any(word in body for word in words for body in bodies)


def describe_chain(exc: BaseException) -> str:
    """The chain's texts on one line, the root cause last, each text once."""
    texts = (f"{type(link).__name__}: {error_body(link)}" for link in error_chain(exc))
    return " <- ".join(dict.fromkeys(texts))
