from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.unit.ir.ir_helpers import facts
from zlbench_core.ir.fingerprint import facts_of, stable

TARGET = SimpleNamespace(backend="cuda", arch=90, warp_size=32)
METADATA = {"num_warps": 4, "num_stages": 3, "num_ctas": 1, "target": TARGET, "shared": 1024, "hash": "abc"}


class AttrsDescriptor:
    """As in Triton 3.2, where the attributes are an object."""

    def to_dict(self) -> dict[str, object]:
        return {"arg_properties": {"tt.divisibility": (0,)}, "cls": "AttrsDescriptor"}


def source(**changed: object) -> SimpleNamespace:
    fields = {
        "name": "add",
        "fn": SimpleNamespace(arg_names=["x", "n", "BLOCK"]),
        "signature": {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"},
        "constants": {(2,): 128},
        "attrs": {(0,): [["tt.divisibility", 16]]},
    }
    return SimpleNamespace(**{**fields, **changed})


def variant_id(src: SimpleNamespace, **metadata: object) -> str:
    return facts_of(src, {**METADATA, **metadata}).variant_id


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "sub"},
        {"signature": {"x": "*fp16", "n": "i32", "BLOCK": "constexpr"}},
        {"constants": {(2,): 256}},
        {"constants": {(2,): True}},
        {"attrs": {}},
    ],
)
def test_another_source_is_another_variant(changed: dict[str, object]) -> None:
    assert variant_id(source(constants={(2,): 1})) != variant_id(
        source(**{"constants": {(2,): 1}, **changed})
    )


@pytest.mark.parametrize("option", ["num_warps", "num_stages", "num_ctas", "maxnreg"])
def test_another_launch_option_is_another_variant(option: str) -> None:
    assert variant_id(source()) != variant_id(source(), **{option: 8})


def test_what_a_switch_may_change_is_no_part_of_the_identity_and_is_told() -> None:
    ieee = facts_of(source(), {**METADATA, "default_dot_input_precision": "ieee"})
    assert ieee.variant_id == variant_id(source(), default_dot_input_precision="tf32")
    assert ieee.options == {"default_dot_input_precision": "ieee"}


def test_a_renamed_argument_is_the_same_variant() -> None:
    renamed = source(
        fn=SimpleNamespace(arg_names=["p", "n", "TILE"]),
        signature={"p": "*fp32", "n": "i32", "TILE": "constexpr"},
    )
    assert variant_id(renamed) == variant_id(source())


def test_keys_by_name_mean_the_same_as_keys_by_path() -> None:
    assert variant_id(source(constants={"BLOCK": 128})) == variant_id(source(constants={(2,): 128}))


def test_attributes_may_be_an_object_as_before_triton_3_3() -> None:
    told = facts_of(source(attrs=AttrsDescriptor()), METADATA)
    assert told.attributes["arg_properties"] == {"tt.divisibility": [0]}


def test_an_argument_without_a_specialisation_may_be_listed_or_not() -> None:
    """Triton 3.9 lists each argument, with an empty list; 3.6 only those that are specialised."""
    listed = source(attrs={(0,): [["tt.divisibility", 16]], (1,): [], (2,): []})
    assert variant_id(listed) == variant_id(source())


def test_an_ir_source_has_no_arguments_and_is_a_variant_too() -> None:
    ir = SimpleNamespace(name="@add", signature={0: "!tt.ptr<f32>", 1: "i32"})
    told = facts_of(ir, METADATA)
    assert told.signature == {"0": "!tt.ptr<f32>", "1": "i32"}
    assert told.name("1") == "1"


def test_values_without_a_stable_text_become_stable() -> None:
    def combine() -> None: ...

    class Plain: ...

    assert stable(combine) == "combine"
    assert stable(Plain()) == stable(Plain())
    assert stable((1, True, None, float("inf"), {"b"})) == [1, True, None, "inf", ["b"]]


def test_a_constexpr_inside_a_tuple_argument_is_named_by_its_argument() -> None:
    assert facts("add").name("2") == "BLOCK"
    assert facts("add").name("2.0") == "BLOCK.0"
    assert facts("add").name("arg_properties") == "arg_properties"
