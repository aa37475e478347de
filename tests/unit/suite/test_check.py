from __future__ import annotations

import pytest
import torch

from zlbench_core.suite.check import (
    Tolerance,
    WrongResult,
    check_close,
    reference_device,
    tolerance,
    widened,
)

ALLOWED = Tolerance(absolute=0.01, relative=0.1)
REFERENCE = torch.tensor([[1.0, 0.0], [10.0, -10.0]], dtype=torch.float64)


def complaint(result: object) -> str:
    with pytest.raises(WrongResult) as caught:
        check_close("op", result, REFERENCE, torch.float32, ALLOWED)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_result_within_the_tolerance_passes() -> None:
    close = torch.tensor([[1.1, 0.009], [10.9, -9.1]])
    check_close("op", close, REFERENCE, torch.float32, ALLOWED)


def test_worst_element_is_named() -> None:
    message = complaint(torch.tensor([[1.2, 0.0], [12.5, -10.0]]))
    assert "2 of 4 elements" in message
    assert "worst at [1, 0]: got 12.5, expected 10" in message


def test_nan_is_wrong_and_worse_than_any_number() -> None:
    assert "1 of 4 elements" in complaint(torch.tensor([[1.0, float("nan")], [10.0, -10.0]]))
    assert "worst at [0, 1]: got nan" in complaint(torch.tensor([[9.0, float("nan")], [10.0, -10.0]]))


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (REFERENCE.half(), "got torch.float16 [2, 2], expected torch.float32 [2, 2]"),
        (REFERENCE.float().flatten(), "got torch.float32 [4]"),
        (None, "got NoneType"),
    ],
)
def test_result_of_another_kind_is_wrong(result: object, words: str) -> None:
    assert words in complaint(result)


@pytest.mark.parametrize("terms", [32, 4096])
def test_dot_tolerance_lets_tf32_pass_and_not_a_missing_block(terms: int) -> None:
    torch.manual_seed(0)
    a, b = torch.randn(64, terms), torch.randn(terms, 64)
    exact = a.double() @ b.double()
    truncated = [(x.view(torch.int32) & ~0x1FFF).view(torch.float32) for x in (a, b)]
    allowed = tolerance(torch.float32, terms=terms, is_dot=True)
    check_close("tf32", truncated[0] @ truncated[1], exact, torch.float32, allowed)
    with pytest.raises(WrongResult):
        check_close("short", a[:, :-16] @ b[:-16], exact, torch.float32, allowed)


@pytest.mark.parametrize(("terms", "seen"), [(2048, 0.00023), (4096, 0.00065)])
def test_what_an_h200s_truncating_tensor_cores_are_off_by_passes_and_a_missing_term_does_not(
    terms, seen
) -> None:
    allowed = tolerance(torch.float16, terms=terms, is_dot=True)
    reference = torch.zeros(4, dtype=torch.float64)
    check_close("mm", torch.full((4,), 2 * seen).half(), reference, torch.float16, allowed)
    with pytest.raises(WrongResult):
        check_close("mm", torch.full((4,), 0.1).half(), reference, torch.float16, allowed)


def test_reference_is_computed_in_float64_and_leaves_integers_alone() -> None:
    assert reference_device("cpu") == "cpu"
    assert widened(torch.ones(2, dtype=torch.float16), "cpu").dtype == torch.float64
    assert widened(torch.ones(2, dtype=torch.int64), "cpu").dtype == torch.int64
    assert widened(-1, "cpu") == -1
