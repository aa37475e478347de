"""What the class Identity says of a field is what the reader, the writers, the guard, the schema and the command do."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests import DATA
from zlbench_core.backends import known_backends
from zlbench_core.caliber import fields as caliber_fields
from zlbench_core.caliber.guard import incomparable, is_declared
from zlbench_core.campaign.schema_files import load_schema
from zlbench_core.commands.cli import main
from zlbench_core.commands.identity_schema import identity_schema
from zlbench_core.common.files import write_json
from zlbench_core.common.places import PACKAGE
from zlbench_core.errors import IdentityError
from zlbench_core.providers import known_providers
from zlbench_core.records.described import FREE, slots
from zlbench_core.records.identity import init_identity, load_identity, update_identity
from zlbench_core.records.identity_fields import Identity

RUN = DATA / "campaign-cpu" / "results" / "cpu" / "mm" / "a" / "r1"
STORED = [
    *sorted(DATA.glob("campaign-cpu/**/run_identity.json")),
    *sorted(DATA.glob("faults/*/identity.json")),
]


def leaves(cls: type, above: str = "", covered: bool = False) -> list[tuple[str, bool, Any]]:
    """Every field with nothing beneath it: its name, whether it or what stands above it is described, its type."""
    found = []
    for name, slot in slots(cls).items():
        told = covered or slot.described is not None
        if slot.inner is None:
            found.append((above + name, told, slot.kind))
        else:
            found += leaves(slot.inner, f"{above}{name}.", told)
    return found


def nested(name: str, value: Any) -> dict[str, Any]:
    for part in reversed(name.split(".")):
        value = {part: value}
    return value


@pytest.mark.parametrize(("name", "told"), [(name, told) for name, told, _ in leaves(Identity)])
def test_of_every_field_it_is_said_how_two_runs_are_compared_by_it(name, told):
    assert told
    assert caliber_fields.field_of(name) is not caliber_fields.field_of("nobody.described.this")


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.parent.name)
def test_what_real_runs_wrote_fits_the_schema_and_may_be_written_again(path, tmp_path):
    stored = json.loads(path.read_text())
    Draft202012Validator(identity_schema()).validate(stored)
    init_identity(tmp_path, **stored)
    assert load_identity(tmp_path) == stored


@pytest.mark.parametrize(
    "name", ["clock", "environment.clock", "measurement.duet.clock", "measurement.pair.spent_ms.idle"]
)
def test_a_field_that_nobody_declared_is_an_error_where_it_is_written(tmp_path, name):
    with pytest.raises(IdentityError, match=rf"^identity field {name} is unknown; class Identity in "):
        init_identity(tmp_path, **nested(name, 1))
    assert list(tmp_path.iterdir()) == []
    before = init_identity(tmp_path, op="mm")
    with pytest.raises(IdentityError, match=f"field {name} is unknown"):
        update_identity(tmp_path, **nested(name, 1))
    assert load_identity(tmp_path) == before


TYPED = [
    (name, kind) for name, _, kind in leaves(Identity) if name not in ("schema_version", "provider_dirty")
]


@pytest.mark.parametrize(("name", "kind"), TYPED)
def test_a_field_of_another_type_is_refused_by_its_name_where_it_is_read_and_written(tmp_path, name, kind):
    value = nested(name, 1 if kind is str else "one")
    with pytest.raises(IdentityError, match=rf"^identity field {name} holds"):
        init_identity(tmp_path, **value)
    write_json(tmp_path / "run_identity.json", {"schema_version": 1, **value})
    with pytest.raises(IdentityError, match=rf"{name} holds .*; .* is expected$"):
        load_identity(tmp_path)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("round", True, "round holds True; int is expected"),
        ("declared", ["python", 1], "declared holds ['python', 1]; list of str is expected"),
        ("replay", {"used": [1]}, "replay.used holds [1]; list of dict is expected"),
        (
            "measurement",
            {"warmup_ms": [1, "2"]},
            "warmup_ms holds [1, '2']; float or list of float is expected",
        ),
        ("op", ["\x1b[2J"], "op holds ['\\x1b[2J']; str is expected"),
    ],
)
def test_the_line_names_the_value_and_what_is_expected(tmp_path, name, value, told):
    write_json(tmp_path / "run_identity.json", {"schema_version": 1, name: value})
    with pytest.raises(IdentityError) as caught:
        load_identity(tmp_path)
    assert told in str(caught.value)


def test_what_is_missing_or_null_is_for_the_guard_to_judge(tmp_path):
    write_json(tmp_path / "run_identity.json", {"schema_version": 1, "op": None, "replay": None})
    assert load_identity(tmp_path)["op"] is None


@pytest.mark.parametrize("version", [0, 2, None, "1", True, 1.0])
def test_an_identity_of_another_schema_is_refused_by_name_and_version(tmp_path, version):
    path = tmp_path / "run_identity.json"
    write_json(path, {**json.loads((RUN / path.name).read_text()), "schema_version": version})
    with pytest.raises(IdentityError, match=r"run_identity\.json is of schema_version .*; 1 is read$"):
        load_identity(tmp_path)
    assert incomparable([("a", tmp_path), ("b", RUN)], [])[0].startswith("run_identity: a: ")


def test_the_schema_takes_its_words_from_what_exists():
    known = identity_schema()["properties"]
    assert known["backend"]["enum"] == list(known_backends())
    assert known["provider"]["enum"] == list(known_providers())
    assert known["timer"]["enum"] == ["cuda_graph", "direct", "do_bench_npu", "none"]
    assert load_schema("config")["properties"]["provider"]["enum"] == list(known_providers())


def test_the_schema_refuses_what_nobody_declared_and_what_is_missing():
    stored = json.loads((RUN / "run_identity.json").read_text())
    validator = Draft202012Validator(identity_schema())
    for changed in ({**stored, "clock": 1}, {**stored, "status": "running"}, {**stored, "direct_repeat": 0}):
        assert not validator.is_valid(changed)
    for name in ("op", "environment", "digests", "timed_out", *caliber_fields.CALIBER_FIELDS):
        assert not validator.is_valid({key: value for key, value in stored.items() if key != name})


def test_what_a_run_must_record_is_in_every_schema():
    schema = identity_schema()
    for name in (*caliber_fields.CALIBER_FIELDS, *caliber_fields.REQUIRED):
        where = schema
        for part in name.split("."):
            assert part in where["required"]
            where = where["properties"][part]


@pytest.mark.parametrize(
    ("name", "axis"),
    [
        ("environment.triton", "python"),
        ("environment.triton", "env:PYTHONPATH"),
        ("environment.variables.X", "env:X"),
        ("provider_dirty", "provider_dir"),
    ],
)
def test_a_declaration_covers_its_fields_and_no_others(name, axis):
    assert is_declared(name, [axis])
    assert not is_declared(name, ["env:OTHER"])
    for other in ("environment.precision.x", "environment.cpu_threads", "harness", "nobody.knows"):
        assert not is_declared(other, [axis])


def test_the_caliber_and_what_every_run_must_record_change_here_too():
    assert caliber_fields.CALIBER_FIELDS == (
        "backend",
        "device",
        "timer",
        "bench_level",
        "shape_mode",
        "tuner_cache",
        "direct_repeat",
    )
    environment = {f"environment.{name}" for name in ("python", "torch", "triton", "variables", "precision")}
    others = {"provider", "op", "test_node", "started", "harness", "measurement.mode"}
    assert set(caliber_fields.REQUIRED) == environment | others


def test_every_field_that_may_differ_says_why():
    assert all(len(one.why) > 10 for one in caliber_fields.FIELDS.values() if one.rule == FREE)


def read_by_name(source: str) -> set[str]:
    """The fields that a source asks of something called identity."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            owner, words = node.func.value, node.args[:1]
        elif isinstance(node, ast.Subscript):
            owner, words = node.value, [node.slice]
        else:
            continue
        if ast.unparse(owner).rpartition(".")[2] == "identity":
            found |= {word.value for word in words if isinstance(word, ast.Constant)}
    return found


def test_no_reader_asks_for_a_field_that_no_writer_may_write():
    assert read_by_name("identity.get('a'), run.identity['b'], other['c']") == {"a", "b"}
    asked = {(path.name, name) for path in PACKAGE.rglob("*.py") for name in read_by_name(path.read_text())}
    assert len(asked) > 20
    assert {(file, name) for file, name in asked if name not in slots(Identity)} == set()


def test_the_command_prints_the_schema_without_a_run(capsys):
    assert main(["identity", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out) == identity_schema()
    with pytest.raises(SystemExit) as left:
        main(["identity"])
    assert left.value.code == 2
    assert "arguments are required: RUN" in capsys.readouterr().err
