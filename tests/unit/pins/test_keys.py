from __future__ import annotations

import types

import pytest
import torch

from tests.unit.tuning.autotune_fakes import FakeJit, make_tuner
from zlbench_core.pins.keys import canonical, canonical_key, kernel_id, key_id, source_digest


class Opaque:
    pass


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, True),
        (3, 3),
        (2.5, 2.5),
        (float("nan"), ["float", "nan"]),
        (float("inf"), ["float", "inf"]),
        (None, None),
        ("torch.float16", "torch.float16"),
        (torch.float16, ["dtype", "torch.float16"]),
        (torch.Size([2, 3]), [2, 3]),
        ((1, (2, "a")), [1, [2, "a"]]),
        (torch.zeros(2, 3, dtype=torch.int8), ["Tensor", "torch.int8", [2, 3]]),
        ({"b": 1, "a": (2,)}, {"a": [2], "b": 1}),
        (Opaque(), ["Opaque"]),
    ],
)
def test_a_key_value_has_one_json_form(value, expected):
    assert canonical(value) == expected


def test_true_and_one_are_different_keys():
    assert key_id(canonical_key((True,))) != key_id(canonical_key((1,)))


def test_a_kernel_is_named_without_module_and_place():
    tuner = make_tuner({32: 0.1})
    moved = make_tuner({32: 0.1})
    moved.fn.fn = types.FunctionType(moved.fn.fn.__code__, {}, "scale")
    assert kernel_id(moved) == kernel_id(tuner)
    tuner.keys = ["n", "BLOCK"]
    assert kernel_id(moved) != kernel_id(tuner)


def digest_with(source: str, scope: dict | None = None) -> str:
    tuner = make_tuner({32: 0.1})
    namespace = scope or {}
    exec("def kernel(x): pass", namespace)
    tuner.fn.fn = namespace["kernel"]
    tuner.fn.src = source
    return source_digest(tuner)


def test_a_comment_and_a_blank_line_are_no_change_and_a_constant_is():
    one = digest_with("def kernel(x):\n    return x + 1\n")
    assert digest_with("def kernel(x):\n\n    # why\n    return x + 1\n") == one
    assert digest_with("def kernel(x):\n    return x + 2\n") != one


def test_a_changed_callee_changes_the_digest_of_its_caller():
    def callee(source: str, module: str = "ops") -> FakeJit:
        jit = FakeJit(make_tuner({32: 0.1}).base_fn)
        jit.src, jit.__module__ = source, module
        return jit

    source = "def kernel(x):\n    return helper(x) + tools.helper(x)\n"
    one = callee("def helper(x):\n    return x\n")
    two = callee("def helper(x):\n    return -x\n")
    tools = types.ModuleType("tools")
    tools.helper = one
    both_one = digest_with(source, {"helper": one, "tools": tools})
    assert digest_with(source, {"helper": two, "tools": tools}) != both_one
    tools.helper = callee("def helper(x):\n    return x\n", module="triton.language.standard")
    library = digest_with(source, {"helper": one, "tools": tools})
    tools.helper = callee("def helper(x):\n    return 7\n", module="triton.language.standard")
    assert digest_with(source, {"helper": one, "tools": tools}) == library
