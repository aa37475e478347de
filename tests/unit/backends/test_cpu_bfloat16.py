from __future__ import annotations

import math

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from zlbench_core.backends.cpu_bfloat16 import to_bits, to_float32


@given(st.lists(st.floats(width=32), min_size=1, max_size=8))
def test_bits_are_torch_bits(values: list[float]) -> None:
    array = np.array(values, dtype=np.float32)
    expected = torch.from_numpy(array).bfloat16().float().numpy()
    np.testing.assert_array_equal(to_float32(to_bits(array)), expected)


def test_ties_go_to_even_and_nan_stays_nan() -> None:
    unit = 2.0**-7
    values = np.array([1 + unit / 2, 1 + 3 * unit / 2, -math.inf, math.nan], dtype=np.float32)
    rounded = to_float32(to_bits(values))
    assert rounded[:3].tolist() == [1.0, 1 + 2 * unit, -math.inf]
    assert np.isnan(rounded[3])
