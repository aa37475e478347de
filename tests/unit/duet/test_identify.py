from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from zlbench_core.duet.identify import RowIds, as_text, described


def timed(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[[], Any]:
    return lambda: op(*args, **kwargs)


def key(call: Callable[[], Any], node: str = "node") -> str:
    return RowIds().next(node, call).key


class Suite:
    """A benchmark as both suites write them."""

    def __init__(self, op_name: str = "mm") -> None:
        self.op_name = op_name

    def run(self, dtype: torch.dtype, shape: list[int]) -> Any:
        metric = SimpleNamespace(shape_detail=shape)
        return self.time(metric)

    def time(self, metric: Any) -> Any:
        return RowIds().next("node", lambda: metric)


def test_the_same_work_has_the_same_key_whatever_its_values_and_whoever_does_it() -> None:
    one = timed(torch.add, torch.zeros(4, 8), 2.0, alpha=1)
    other = timed(torch.mul, torch.ones(4, 8), 2.0, alpha=1)
    assert key(one) == key(other)


@pytest.mark.parametrize(
    "changed",
    [
        timed(torch.add, torch.zeros(8, 4), 2.0, alpha=1),
        timed(torch.add, torch.zeros(8, 4).t(), 2.0, alpha=1),
        timed(torch.add, torch.zeros(4, 8, dtype=torch.float16), 2.0, alpha=1),
        timed(torch.add, torch.zeros(4, 8), 3.0, alpha=1),
        timed(torch.add, torch.zeros(4, 8), 2.0, alpha=2),
        timed(torch.add, torch.zeros(4, 8), 2.0, alpha=1, dtype=torch.float16),
        timed(torch.add, [torch.zeros(4, 8)], 2.0, alpha=1),
    ],
)
def test_another_shape_layout_dtype_or_argument_is_another_row(changed: Callable[[], Any]) -> None:
    assert key(changed) != key(timed(torch.add, torch.zeros(4, 8), 2.0, alpha=1))


def test_another_test_is_another_row() -> None:
    call = timed(torch.add, torch.zeros(1))
    assert key(call, "one") != key(call, "two")


def test_equal_rows_of_one_process_are_counted() -> None:
    ids, call = RowIds(), timed(torch.add, torch.zeros(1))
    rows = [ids.next("node", call) for _ in range(3)]
    assert [row.occurrence for row in rows] == [0, 1, 2]
    assert as_text(rows[0]) == "node"
    assert as_text(rows[2]) == "node (occurrence 2)"


def test_what_the_benchmark_says_of_a_row_is_part_of_it() -> None:
    row = Suite().run(torch.float16, [4, 8])
    assert row.label == "mm torch.float16 [4, 8]"
    assert row.key == Suite().run(torch.float16, [4, 8]).key
    others = [
        Suite().run(torch.float32, [4, 8]),
        Suite().run(torch.float16, [8]),
        Suite("add").run(torch.float16, [4, 8]),
    ]
    assert len({row.key, *(other.key for other in others)}) == 4


def test_no_address_of_a_process_gets_into_a_key() -> None:
    def describe() -> str:
        held = [torch.Generator(), object(), {"a": object()}, torch.nn.Linear(2, 2), torch.strided]
        return str(described(timed(torch.add, *held)))

    assert "0x" not in describe()
    assert "torch.strided" in describe()


def test_a_row_of_very_many_or_deeply_nested_arguments_is_described_all_the_same() -> None:
    nested: list[Any] = []
    for _ in range(100):
        nested = [nested]
    assert key(timed(torch.add, nested, list(range(10_000))))
