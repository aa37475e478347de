from __future__ import annotations

import json

import pytest

from zlbench_core.common.files import atomic_open
from zlbench_core.errors import IdentityError
from zlbench_core.records.identity import identity_path, init_identity, load_identity, update_identity


def test_a_new_identity_is_running_and_holds_what_is_known(tmp_path):
    init_identity(tmp_path, op="mm")
    assert load_identity(tmp_path) == {"schema_version": 1, "status": "running", "op": "mm"}


def test_an_update_merges_mappings_one_level_deep(tmp_path):
    init_identity(tmp_path, measurement={"warmup_ms": 25}, op="mm")
    update_identity(tmp_path, measurement={"flush": "l2"}, op="bmm")
    found = load_identity(tmp_path)
    assert found["measurement"] == {"warmup_ms": 25, "flush": "l2"}
    assert found["op"] == "bmm"


def test_a_new_run_forgets_the_earlier_one(tmp_path):
    init_identity(tmp_path, op="mm", timer="direct")
    init_identity(tmp_path, op="mm")
    assert "timer" not in load_identity(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"schema_version": 7}', "{}"])
def test_what_is_no_identity_is_named_with_its_path(tmp_path, text):
    identity_path(tmp_path).write_text(text)
    with pytest.raises(IdentityError, match=r"run_identity\.json"):
        load_identity(tmp_path)


def test_a_missing_identity_cannot_be_updated(tmp_path):
    with pytest.raises(IdentityError, match="does not exist"):
        update_identity(tmp_path, op="mm")


def test_a_write_that_breaks_off_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("old")

    def break_off():
        with atomic_open(path) as stream:
            stream.write("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        break_off()
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.json"]


def test_an_identity_without_a_number_keeps_no_nan(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        init_identity(tmp_path, measurement={"warmup_ms": float("nan")})
    assert not identity_path(tmp_path).exists()
    init_identity(tmp_path, measurement={"warmup_ms": 1.5})
    assert json.loads(identity_path(tmp_path).read_text())["measurement"] == {"warmup_ms": 1.5}
