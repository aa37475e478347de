"""The arguments of one row: how they are seeded, split, and shown in the table."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import torch

SEED = 20261130

Inputs = tuple[Any, ...]


def seeded(inputs: Iterator[Inputs]) -> Iterator[Inputs]:
    """The same inputs, each made under a seed of its own.

    Otherwise the number of calls of a random baseline, which a timer decides, would change the next row.
    """
    for index in itertools.count():
        torch.manual_seed(SEED + index)
        try:
            item = next(inputs)
        except StopIteration:
            return
        yield item


def split_inputs(inputs: Inputs) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword arguments: a dict among the inputs holds keyword arguments."""
    args = [item for item in inputs if not isinstance(item, dict)]
    kwargs = {name: value for item in inputs if isinstance(item, dict) for name, value in item.items()}
    return args, kwargs


def shape_detail(args: Any, kwargs: dict[str, Any]) -> Any:
    """What the table's last column shows: tensors by their size; (args, kwargs) only where both are there."""
    shown_args = [_shown(arg) for arg in args]
    shown_kwargs = {name: _shown(value) for name, value in kwargs.items()}
    if shown_args and shown_kwargs:
        return shown_args, shown_kwargs
    return shown_args or shown_kwargs


def _shown(value: Any) -> Any:
    if torch.is_tensor(value):
        return value.size()
    if isinstance(value, list | tuple):
        return [_shown(item) for item in value]
    return value
