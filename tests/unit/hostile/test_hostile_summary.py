"""What a run's files may hold: the operator is judged or refused in words, or there is one line; never a trace."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import DATA
from zlbench_core.campaign.load import load_campaign
from zlbench_core.common.files import sha256_of, write_json
from zlbench_core.errors import ReadError
from zlbench_core.judge import store
from zlbench_core.judge.summary import summarise
from zlbench_core.results.store import read_samples_table

REAL = DATA / "campaign-cpu" / "results"
RUN = Path("results/cpu/mm/b/r1")
CONFIG = {"backend": "cpu", "ops": ["mm"], "dtypes": ["float32"]}
CONFIG |= {"sides": {"a": {}, "b": {"env": {"TRITON_F32_DEFAULT": "ieee"}}}}


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """The operator's verdict when the JSON file `name` of its run b r1 is changed, and vouched for as it then is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(store, "round_digest", lambda campaign, op: "a837c51f789e3d34")
    shutil.copytree(REAL, tmp_path / "results")

    def judge(name: str, change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        document = json.loads((RUN / name).read_text())
        change(document)
        (RUN / name).write_text(json.dumps(document) + "\n")
        identity = json.loads((RUN / "run_identity.json").read_text())
        identity["digests"] = {known: sha256_of(RUN / known) for known in identity["digests"]}
        write_json(RUN / "run_identity.json", identity)
        folders = sorted(path.parent for path in Path("results").rglob("run_identity.json"))
        summarise(load_campaign(CONFIG), folders, [Path("results/cpu/mm/ir_gate.json")], tmp_path)
        return json.loads((tmp_path / "verdicts.json").read_text())["operators"][0]

    return judge


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("samples.jsonl", {"seq": 1 << 63}, "OverflowError a number has 64 bits; 63 are allowed"),
        ("samples.jsonl", {"batch": 1 << 70}, "OverflowError a number has 71 bits; 63 are allowed"),
        ("samples.jsonl", {"node": "\ud800"}, "UnicodeEncodeError"),
        ("run_identity.json", {"replay": {"used": [1]}}, "replay.used holds"),
        ("run_identity.json", {"replay": {"used": 1}}, "replay.used holds"),
    ],
)
def test_what_no_run_writes_refuses_the_operator_in_words(
    judged: Any, name: str, change: dict[str, Any], told: str
) -> None:
    operator = judged(name, lambda document: document.update(change))
    assert operator["verdict"] == "REFUSED"
    assert any(told in reason for reason in operator["refusals"]), operator["refusals"]


@pytest.mark.parametrize("number", [-1, -9, 1 << 40, 1 << 70])
def test_a_block_of_a_superblock_that_cannot_be_is_kept_and_counts_for_nothing(
    judged: Any, tmp_path: Path, number: int
) -> None:
    block = {"superblock": number, "place": number, "first": 0, "count": 1}
    judged("samples.jsonl", lambda call: call.update(blocks=[block], order=["ABBA"]))
    [line] = [line for line in read_samples_table(tmp_path / "samples.parquet") if line["block"] is not None]
    assert (line["superblock"], line["order"], line["block"]) == (None, None, 0)
    assert json.loads(line["extra"])["superblock"] == number


@pytest.mark.parametrize("order", [2, -1, 1 << 70])
def test_a_place_in_the_round_that_cannot_be_is_none(judged: Any, tmp_path: Path, order: Any) -> None:
    judged("run_identity.json", lambda identity: identity.update(order=order))
    places = {
        line["place"] for line in read_samples_table(tmp_path / "samples.parquet") if line["side"] == "b"
    }
    assert places == {None}


@pytest.mark.parametrize("env", [1, [1.0], "x"])
def test_a_header_without_the_asked_environment_is_one_line(judged: Any, env: Any) -> None:
    with pytest.raises(ReadError, match=r"env of the side is \w+; an object is expected"):
        judged("header.json", lambda header: header["side"].update(env=env))
