"""Whatever stands in the files of a campaign: an answer or a ZlbenchError, and no other exception."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import tests
from zlbench_core.caliber.guard import (
    field_complaints,
    hazards,
    missing_fields,
    undeclared_differences,
)
from zlbench_core.campaign.load import default_config, load_campaign
from zlbench_core.campaign.model import Campaign, CheckAsked, LookAsked, RecordAsked, RoundAsked
from zlbench_core.campaign.plan_text import read_plan
from zlbench_core.errors import ConfigError, ZlbenchError
from zlbench_core.ir.archive import read_archive
from zlbench_core.ir.normalise import normalise
from zlbench_core.judge.accept import require_accepted
from zlbench_core.judge.collect import load_run
from zlbench_core.judge.guards import gate_refusals
from zlbench_core.judge.show import show_campaign
from zlbench_core.judge.status import status_of
from zlbench_core.pins.pins import load_pins
from zlbench_core.pins.records import read_records
from zlbench_core.results.status import STATUSES
from zlbench_core.run.plans import look_plan, preflight_plan, record_plan, round_plan, summary_plan

DATA = tests.DATA / "faults"
QUICK = settings(
    max_examples=60,
    deadline=None,  # the machine is shared; pytest-timeout is the bound
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    derandomize=True,
)
NAMES = st.text(max_size=8) | st.sampled_from(
    ["op", "status", "digests", "schema_version", "../../x", "\0", "env"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


def changed(known: dict) -> st.SearchStrategy[dict]:
    """`known` with some of its values, or of theirs, replaced by anything or taken away."""
    paths = [(name,) for name in known]
    paths += [(name, sub) for name, value in known.items() if isinstance(value, dict) for sub in value]
    edits = st.lists(st.tuples(st.sampled_from(paths), VALUES | st.just(...)), max_size=4)
    return edits.map(lambda edits: edited(known, edits))


def edited(known: dict, edits: list) -> dict:
    made = json.loads(json.dumps(known))
    for path, value in edits:
        inner = made
        for name in path[:-1]:
            inner = inner.get(name) if isinstance(inner, dict) else None
        if not isinstance(inner, dict):
            continue
        if value is ...:
            inner.pop(path[-1], None)
        else:
            inner[path[-1]] = value
    return made


IDENTITY = json.loads((DATA / "b" / "identity.json").read_text())
RECORDS = json.loads((DATA / "record" / "records.json").read_text())
CONFIG = {**default_config(), "autotune": {"mode": "replay"}, "ir_gate": {}, "op_files": {}, "devices": [0]}
GATE = {
    "schema_version": 1,
    "status": "complete",
    "op": "mm",
    "verdict": "different",
    "first_stage": "llir",
    "digests": {"a": "0", "b": "1"},
}
VERDICT = {"op": "mm", "verdict": "SAME", "reasons": [], "detail": "", "refusals": [], "exclusions": []}
VERDICT |= {
    "hazards": [],
    "evidence": {"ratio": 1.0, "ratio_ci": [0.9, 1.1]},
    "rounds_needed": None,
    "rows": [],
}
VERDICTS = {
    "schema_version": 1,
    "status": "complete",
    "declared_axis": ["python"],
    "allow_caliber_mismatch": False,
    "sides": ["a", "b"],
    "alpha": 0.05,
    "policy": "gate",
    "operators": [VERDICT],
}


@QUICK
@given(config=changed(CONFIG) | st.dictionaries(NAMES, VALUES))
def test_any_config_is_a_campaign_or_one_line(config):
    with suppress(ZlbenchError):
        campaign = load_campaign(config)
        assert Campaign.from_json(json.loads(json.dumps(campaign.to_json()))) == campaign


@QUICK
@given(identity=changed(IDENTITY), other=changed(IDENTITY))
def test_any_pair_of_identities_is_judged(tmp_path, identity, other):
    runs = [("a", tmp_path / "a"), ("b", tmp_path / "b")]
    for (_, folder), value in zip(runs, (identity, other), strict=True):
        folder.mkdir(exist_ok=True)
        (folder / "run_identity.json").write_text(json.dumps(value))
        (folder / "run.log").write_bytes((DATA / "b" / "run.log").read_bytes())
        assert status_of(load_run(folder)).status in STATUSES
    complaints = field_complaints(runs)
    hazards(runs)
    if not any(line.startswith("run_identity") for line in complaints):
        complaints += missing_fields(runs) + undeclared_differences(runs, [])
    assert all(isinstance(line, str) for line in complaints)


@QUICK
@given(content=st.binary(max_size=100) | VALUES.map(lambda value: json.dumps(value).encode()))
@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("run_identity.json", load_run),
        ("pins.json", load_pins),
        ("meta.json", load_pins),
        ("records.json", read_records),
        ("index.json", read_archive),
        ("verdicts.json", show_campaign),
        ("verdicts.json", lambda folder: require_accepted(folder / "verdicts.json")),
        ("samples.jsonl", load_run),
    ],
)
def test_any_bytes_are_read_or_refused(tmp_path, name, read, content):
    (tmp_path / name).write_bytes(content)
    with suppress(ZlbenchError):
        read(tmp_path)


@QUICK
@given(records=changed(RECORDS), meta=changed({"schema_version": 1, "status": "complete", "digests": {}}))
def test_any_records_and_any_meta_are_read_or_refused(tmp_path, records, meta):
    (tmp_path / "records.json").write_text(json.dumps(records))
    (tmp_path / "pins.json").write_text(json.dumps(records))
    (tmp_path / "meta.json").write_text(json.dumps(meta))
    for read in (read_records, load_pins):
        with suppress(ZlbenchError):
            read(tmp_path)


@QUICK
@given(gate=changed(GATE))
def test_any_gate_that_is_not_whole_is_a_refusal(gate):
    found = gate_refusals(gate, "mm")
    assert found  # none of these vouches for files that are there


@QUICK
@given(verdicts=changed(VERDICTS), operator=changed(VERDICT))
def test_any_verdicts_are_shown_or_refused(tmp_path, verdicts, operator):
    if verdicts.get("operators") == [VERDICT]:
        verdicts["operators"] = [operator]
    (tmp_path / "verdicts.json").write_text(json.dumps(verdicts))
    (tmp_path / "ops_status.csv").write_text("op,side,status,device\nmm,a,ok,x\n")
    with suppress(ZlbenchError):
        show_campaign(tmp_path)
    with suppress(ZlbenchError):
        require_accepted(tmp_path / "verdicts.json")


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (summary_plan, Campaign),
        (lambda c: look_plan(c, c.subject.ops), LookAsked),
        (lambda c: round_plan(c, "mm"), RoundAsked),
        (lambda c: record_plan(c, "mm"), RecordAsked),
        (lambda c: preflight_plan(c, "a"), CheckAsked),
    ],
)
def test_a_plan_gives_back_what_it_was_made_from_and_is_none_of_another_step(make, kind):
    made = make(load_campaign(default_config()))
    asked = read_plan(made, kind)
    assert (type(asked), asked.to_json()["backend"]) == (kind, "cpu")
    for other in {Campaign, LookAsked, RoundAsked, RecordAsked, CheckAsked} - {kind}:
        with pytest.raises(ConfigError, match="no plan of a campaign"):
            read_plan(made, other)


@QUICK
@given(text=st.text(max_size=50) | VALUES.map(json.dumps))
def test_any_plan_is_a_campaign_or_one_line(text):
    with suppress(ZlbenchError):
        read_plan(text, RoundAsked)


CUBIN = next((DATA / "b" / "ir").rglob("cubin")).read_bytes()
FIELDS = st.integers(0, 80) | st.integers(0, len(CUBIN) - 8)  # the header's fields decide where all else is
OVERWRITTEN = st.lists(st.tuples(FIELDS, st.binary(min_size=1, max_size=8)), min_size=1, max_size=4)


@QUICK
@given(edits=OVERWRITTEN, length=st.integers(0, len(CUBIN)) | st.just(len(CUBIN)))
@example(edits=[(40, b"\xff" * 8)], length=len(CUBIN))  # found by fuzz/fuzz_readers.py
def test_any_binary_has_a_normal_form(edits, length):
    data = bytearray(CUBIN)
    for place, written in edits:
        data[place : place + len(written)] = written
    assert normalise("cubin", bytes(data[:length])) is not None
