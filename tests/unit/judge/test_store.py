"""What is stored of a campaign, and that verdicts follow from it alone."""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zlbench_core.commands import verdict
from zlbench_core.commands.cli import main
from zlbench_core.common.files import sha256_of
from zlbench_core.errors import ReadError
from zlbench_core.judge.collect import load_run, timed_calls
from zlbench_core.judge.evidence import sample_lines, stored_rows, with_calls
from zlbench_core.judge.judge import build_case
from zlbench_core.judge.summary import summarise
from zlbench_core.results.samples import read_samples
from zlbench_core.results.store import (
    packed_samples,
    read_rounds,
    read_samples_table,
    samples_writer,
    write_rounds,
)
from zlbench_core.verdicts.stored import judge_stored


@pytest.fixture
def folder(real_runs, make_campaign):
    """Six rounds of one changed operator, side b 2% slower; the sides come first by turns."""
    for number in range(1, 7):
        real_runs.add("mm", "a", number, 20.0 + number / 1000, "code", order=(number + 1) % 2)
        real_runs.add("mm", "b", number, 20.4 + number / 700, "other", order=number % 2)
    summarise(make_campaign(), real_runs.folders(), [real_runs.gate("mm")], real_runs.root)
    return real_runs.root


def test_the_stored_rounds_alone_give_every_bit_of_the_verdicts(folder, capsys):
    stored = json.loads((folder / "verdicts.json").read_text())
    assert stored["operators"][0]["verdict"] == "SLOWER"
    assert main(["verdict", str(folder)]) == 0
    assert capsys.readouterr().out == "verdicts recomputed: 1 equal\n"
    assert main(["verdict", "--json", str(folder)]) == 0
    assert json.loads(capsys.readouterr().out) == {"operators": 1, "differences": []}


@pytest.mark.parametrize("column", ["log_ratio", "t_a_ms", "t_b_ms"])
def test_one_stored_value_that_is_another_is_seen(folder, column, capsys):
    table = pq.read_table(folder / "rounds.parquet")
    values = table.column(column).to_pylist()
    # The median of six rounds rests on the third and the fourth.
    values[3] *= 1 - 2**-40
    place = table.schema.get_field_index(column)
    pq.write_table(table.set_column(place, table.schema.field(column), [values]), folder / "rounds.parquet")
    assert verdict.run(Namespace(folder=folder, json=False)) == 1
    *lines, last = capsys.readouterr().out.splitlines()
    assert lines
    assert all(line.startswith("verdicts differ: operators.mm.") for line in lines)
    assert last == "verdicts differ: rounds.parquet: it is not the file that receipt.json vouches for"


def test_the_side_that_came_first_is_stored_and_what_it_gained_is_told(folder, capsys):
    table = pq.read_table(folder / "rounds.parquet")
    assert table.column("first_side").to_pylist() == ["a", "b", "a", "b", "a", "b"]
    [operator] = json.loads((folder / "verdicts.json").read_text())["operators"]
    assert operator["evidence"]["first_over_second"] == pytest.approx(1, abs=1e-3)
    place = table.schema.get_field_index("first_side")
    unknown = table.set_column(place, table.schema.field("first_side"), [pa.nulls(6, pa.string())])
    pq.write_table(unknown, folder / "rounds.parquet")
    assert verdict.run(Namespace(folder=folder, json=False)) == 1
    assert "operators.mm.evidence.first_over_second" in capsys.readouterr().out


@pytest.mark.parametrize("orders", [(0, 0), (None, 1), (1, 2)])
def test_identities_that_do_not_tell_who_came_first_take_nothing_out(real_runs, make_campaign, orders):
    for number in range(1, 7):
        for side, order in zip("ab", orders, strict=True):
            real_runs.add("mm", side, number, 20.0, side, order=order)
    summarise(make_campaign(), real_runs.folders(), [real_runs.gate("mm")], real_runs.root)
    rounds = read_rounds(real_runs.root / "rounds.parquet").operators[0].rows[0].rounds
    assert [one.first_side for one in rounds] == [None] * 6


def test_another_alpha_in_the_store_is_seen(folder, capsys):
    stored = read_rounds(folder / "rounds.parquet")
    looks = replace(stored.operators[0].looks, alpha=0.04, level=0.04)
    operators = (replace(stored.operators[0], looks=looks),)
    write_rounds(folder / "rounds.parquet", replace(stored, alpha=0.04, operators=operators))
    assert verdict.run(Namespace(folder=folder, json=False)) == 1
    assert "alpha: 0.05 is stored, 0.04 follows from the rounds" in capsys.readouterr().out


def test_a_store_comes_back_as_it_was_written(folder, tmp_path):
    stored = read_rounds(folder / "rounds.parquet")
    write_rounds(tmp_path / "again.parquet", stored)
    assert read_rounds(tmp_path / "again.parquet") == stored
    assert judge_stored(stored)["operators"][0]["evidence"]["rounds"] == 6


@pytest.mark.parametrize("content", [b"", b"PAR1 torn", None])
def test_a_torn_store_is_one_line(folder, content, capsys):
    path = folder / "rounds.parquet"
    path.unlink() if content is None else path.write_bytes(content)
    assert main(["verdict", str(folder)]) == 1
    err = capsys.readouterr().err
    assert err.startswith("zlbench: ")
    assert len(err.splitlines()) == 1
    assert "rounds.parquet" in err


def test_rounds_that_are_missing_from_the_store_are_refused(folder):
    table = pq.read_table(folder / "rounds.parquet")
    pq.write_table(table.slice(1), folder / "rounds.parquet")
    with pytest.raises(ReadError, match="not numbered from 1"):
        read_rounds(folder / "rounds.parquet")


def test_the_receipt_vouches_for_the_store(folder):
    receipt = json.loads((folder / "receipt.json").read_text())
    assert receipt["store"]["rounds.parquet"] == sha256_of(folder / "rounds.parquet")
    assert receipt["store"]["samples.parquet"] == sha256_of(folder / "samples.parquet")


def duet_line(side: str, centre: float) -> dict:
    """A line as a duet leaves it: blocks are parts of the samples, by superblock and place."""
    places = {"A": (0, 3, 1, 2), "B": (1, 2, 0, 3)}[side]
    blocks = [
        {"superblock": number // 2, "place": place, "first": 3 * number, "count": 3, "discarded_ms": [9.0]}
        for number, place in enumerate((*places, *places[:2]))
    ]
    blocks[0]["conditions"] = {"sm_mhz": 1980, "nested": {"throttle": [1, 2]}}
    samples = [centre * (1 + 0.001 * step) for step in range(3 * len(blocks))]
    return {
        "seq": 0,
        "node": "test_mm.py::test_mm",
        "timer": "direct",
        "flush_l2": True,
        "batch": 7,
        "samples_ms": samples,
        "value_ms": centre,
        "fallback": None,
        "verdict": None,
        "blocks": blocks,
        "order": ["ABBA", "BAAB", "ABBA"],
        "void": [None, None, None],
        "warm_up": 2,
        "invented_tomorrow": {"deep": [{"x": 1.5}]},
    }


@pytest.fixture
def duet(real_runs):
    """One round in which both sides' samples are those of a duet."""
    for side, letter, centre in (("a", "A", 20.0), ("b", "B", 20.2)):
        real_runs.add("mm", side, 1, centre, letter)
        folder = real_runs.folder(side)
        (folder / "samples.jsonl").write_text(json.dumps(duet_line(letter, centre)) + "\n")
        identity = real_runs.identity(side)
        identity["digests"]["samples.jsonl"] = sha256_of(folder / "samples.jsonl")
        real_runs.write_identity(side, identity)
    return real_runs


def test_nothing_of_a_duets_samples_is_lost(duet, tmp_path):
    run = load_run(duet.folder("a"))
    with samples_writer(tmp_path / "samples.parquet") as append:
        append(packed_samples(sample_lines(run, timed_calls(run))))
    call, *blocks = read_samples_table(tmp_path / "samples.parquet")
    line = duet_line("A", 20.0)
    assert call["samples_ms"] is None
    assert (call["batch"], call["flush_l2"], call["timer"]) == (7, True, "direct")
    assert json.loads(call["extra"]) == {
        name: line[name] for name in ("verdict", "order", "void", "warm_up", "invented_tomorrow")
    }
    assert [value for block in blocks for value in block["samples_ms"]] == line["samples_ms"]
    rebuilt = [
        {"superblock": block["superblock"], "place": block["block"], **json.loads(block["extra"])}
        for block in blocks
    ]
    assert rebuilt == line["blocks"]
    assert [block["order"] for block in blocks] == [line["order"][block["superblock"]] for block in blocks]


def test_samples_beside_the_blocks_stay_with_their_call(duet, tmp_path):
    line = duet_line("A", 20.0)
    line["samples_ms"].append(99.0)
    (duet.folder("a") / "samples.jsonl").write_text(json.dumps(line) + "\n")
    run = replace(load_run(duet.folder("a")), problem=None)
    with samples_writer(tmp_path / "samples.parquet") as append:
        append(packed_samples(sample_lines(run, timed_calls(run))))
    assert read_samples_table(tmp_path / "samples.parquet")[0]["samples_ms"] == line["samples_ms"]


def test_a_row_of_a_duet_has_a_batch_and_how_far_it_moved(duet):
    runs = [load_run(duet.folder(side)) for side in "ab"]
    gate = json.loads(duet.gate("mm").read_text())
    case, calls = with_calls(build_case("mm", runs, gate, ["env:TRITON_F32_DEFAULT"]), runs)
    [row] = stored_rows(case, calls)
    assert row.batch == 7
    [one] = row.rounds
    assert one.span is not None
    void = duet_line("A", 20.0) | {"void": [None, "throttled", "throttled"]}
    (duet.folder("a") / "samples.jsonl").write_text(json.dumps(void) + "\n")
    case, calls = with_calls(case, runs)
    assert stored_rows(case, calls)[0].rounds[0].span is None


@pytest.mark.parametrize("blocks", [[1], "ab", {"a": 1}, 7])
def test_blocks_of_another_form_are_a_read_error(tmp_path, blocks):
    path = tmp_path / "samples.jsonl"
    path.write_text(json.dumps(duet_line("A", 20.0) | {"blocks": blocks}) + "\n")
    with pytest.raises(ReadError, match="no timed call"):
        read_samples(path)


def test_samples_that_cannot_be_read_refuse_the_operator(duet):
    (duet.folder("a") / "samples.jsonl").write_text('{"seq": 0}\n')
    runs = [replace(load_run(duet.folder(side)), problem=None) for side in "ab"]
    gate = json.loads(duet.gate("mm").read_text())
    case, _ = with_calls(build_case("mm", runs, gate, ["env:TRITON_F32_DEFAULT"]), runs)
    assert any(line.startswith("samples: a r1:") for line in case.refusals)


def test_stored_rounds_of_another_schema_are_refused_with_their_own(folder):
    table = pq.read_table(folder / "rounds.parquet")
    older = {**json.loads(table.schema.metadata[b"zlbench"]), "schema_version": 1}
    table = table.drop_columns("first_side").replace_schema_metadata({b"zlbench": json.dumps(older)})
    pq.write_table(table, folder / "rounds.parquet")
    with pytest.raises(ReadError, match=r"rounds\.parquet are of schema 1; 2 is expected$"):
        read_rounds(folder / "rounds.parquet")
