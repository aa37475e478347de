"""Every field of a real identity, changed alone, missing, or null on one side: refused by its name."""

from __future__ import annotations

import copy
import csv
import json

import pytest

from tests.unit.judge.real_runs import REAL
from zlbench_core.caliber.fields import MAY_DIFFER
from zlbench_core.judge.compare import compare_runs
from zlbench_core.judge.summary import summarise
from zlbench_core.records.vouched import VOUCHED

IDENTITY = json.loads((REAL / "cpu" / "mm" / "b" / "r1" / "run_identity.json").read_text())
# Beyond MAY_DIFFER, mutations that say nothing: (field, how), each with its reason.
SAYS_NOTHING = {
    ("failure", "missing"): "no failure is what null says too",
    ("failure", "null"): "it is null already",
    ("driver", "missing"): "null on this backend already: not known is not known",
    ("driver", "null"): "it is null already",
    ("provider_dirty", "missing"): "null for the builtin provider already",
    ("provider_dirty", "null"): "it is null already",
}
# In MAY_DIFFER for comparison, and still judged by the chain where the run itself is read.
JUDGED_ALONE = {
    "side",
    "round",
    "status",
    "pytest_exit",
    "failure",
    "timed_out",
    "digests",
    "plan",
    "declared",
    "started",
}
KINDS = ("changed", "missing", "null")


def leaves(value, prefix=""):
    if isinstance(value, dict) and value:
        for name, sub in value.items():
            yield from leaves(sub, f"{prefix}.{name}" if prefix else name)
    else:
        yield prefix


def names(field: str) -> list[str]:
    return [field, *(field.rsplit(".", count)[0] for count in range(1, field.count(".") + 1))]


def is_exempt(field: str, kind: str) -> bool:
    if (field, kind) in SAYS_NOTHING or (field, kind) == ("started", "changed"):
        return True
    free = any(field == name or field.startswith(f"{name}.") for name in MAY_DIFFER)
    return free and field.split(".")[0] not in JUDGED_ALONE


def fields() -> list[str]:
    found = [name.replace("run.log", "run/log") for name in leaves(IDENTITY)]
    return sorted(name for name in found if not name.startswith("digests"))


CASES = [(field, kind) for field in fields() for kind in KINDS if not is_exempt(field, kind)]


def mutated(identity: dict, field: str, kind: str) -> dict:
    changed = copy.deepcopy(identity)
    *path, last = field.split(".")
    where = changed
    for part in path:
        where = where[part]
    if kind == "missing":
        del where[last]
    else:
        where[last] = None if kind == "null" else other(where[last])
    return changed


def other(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return value + "-other"
    if isinstance(value, list):
        return [*value[1:], "other"] if not value or isinstance(value[0], str) else other_config(value)
    return {"key_missing": 1} if value == {} else "other"


def other_config(uses):
    changed = copy.deepcopy(uses)
    changed[0]["config"]["num_warps"] *= 2
    return changed


def refusals(real_runs, campaign) -> list[str]:
    summarise(campaign, real_runs.folders(), [real_runs.root / "results/cpu/mm/ir_gate.json"], real_runs.root)
    [operator] = json.loads((real_runs.root / "verdicts.json").read_text())["operators"]
    assert operator["verdict"] == "REFUSED"
    assert operator["evidence"] is None
    assert no_number(real_runs)
    return operator["reasons"]


def no_number(real_runs) -> bool:
    tables = [real_runs.root / name for name in ("ab.csv", "summary.csv")]
    return all(not list(csv.DictReader(table.open(newline=""))) for table in tables)


def test_the_real_pair_as_it_is_has_nothing_to_refuse(real_runs, make_campaign):
    real_runs.real()
    gates = [real_runs.root / "results/cpu/mm/ir_gate.json"]
    summarise(make_campaign(), real_runs.folders(), gates, real_runs.root)
    [operator] = json.loads((real_runs.root / "verdicts.json").read_text())["operators"]
    assert operator["refusals"] == []
    assert not no_number(real_runs)


@pytest.mark.parametrize(("field", "kind"), CASES)
def test_a_field_that_is_another_on_one_side_is_refused_by_its_name(real_runs, make_campaign, field, kind):
    real_runs.real()
    real_runs.write_identity("b", mutated(real_runs.identity("b"), field, kind))
    told = " | ".join(refusals(real_runs, make_campaign()))
    assert any(name in told for name in names(field)), told


# Two runs that exist may be of different rounds, sides and campaigns, and of sides that differ as declared.
FREE = ("side", "round", "plan", "declared", "environment.variables.TRITON_F32_DEFAULT")


@pytest.mark.parametrize("field", [f for f in fields() if f not in FREE and not is_exempt(f, "changed")])
def test_two_runs_that_exist_are_held_to_the_same(real_runs, field):
    real_runs.real()
    real_runs.write_identity("b", mutated(real_runs.identity("b"), field, "changed"))
    found = compare_runs(real_runs.folder("a"), real_runs.folder("b"))
    assert found.rows == ()
    assert any(name in " | ".join(found.complaints) for name in names(field))


@pytest.mark.parametrize("name", sorted(set(VOUCHED) & set(IDENTITY["digests"])))
@pytest.mark.parametrize("kind", ["changed", "missing"])
def test_a_file_that_the_identity_does_not_vouch_for_is_refused_by_its_name(
    real_runs, make_campaign, name, kind
):
    real_runs.real()
    identity = real_runs.identity("b")
    identity["digests"][name] = "0" * 64
    if kind == "missing":
        del identity["digests"][name]
    real_runs.write_identity("b", identity)
    assert name in refusals(real_runs, make_campaign())[0]


# Whoever lets another field differ changes this list too.
PINNED = {
    "caches",
    "compiled",
    "declared",
    "device_index",
    "digests",
    "ended",
    "failure",
    "ir",
    "measurement.fallbacks",
    "measurement.pair",
    "measurement.rows",
    "mm_cluster_fix",
    "order",
    "plan",
    "pytest_exit",
    "replay.foreign",
    "replay.hits",
    "replay.launches",
    "replay.source_changed",
    "replay.unused",
    "round",
    "side",
    "started",
    "status",
    "timed_out",
}


def test_every_field_that_may_differ_is_known_and_says_why():
    assert set(MAY_DIFFER) == PINNED
    assert all(len(reason) > 10 for reason in (*MAY_DIFFER.values(), *SAYS_NOTHING.values()))
    top = {name.split(".")[0] for name in MAY_DIFFER}
    assert not top & {"backend", "device", "timer", "harness", "provider", "environment"}
