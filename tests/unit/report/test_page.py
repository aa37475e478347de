"""What the page says of a real campaign, and of the same campaign gone wrong."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser

import pytest

from zlbench_core.errors import ReadError
from zlbench_core.pins.pins import publish_pins
from zlbench_core.report import write_report
from zlbench_core.report.page import page
from zlbench_core.report.source import read_results

RATIO, LATENCY = "1.0111", "8.841"  # mm's, in the stored campaign
INLINE = {"a", "strong", "span", "code", "em"}


class Reader(HTMLParser):
    """The visible text, the plots' data, and every address that an element would load."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text: list[str] = []
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.inside = ""
        self.plots: dict = {}
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.inside = tag
        self.tags.append(tag)
        self.loads += [value for name, value in attrs if name in ("src", "href", "data", "action")]

    def handle_endtag(self, tag):
        self.inside = ""
        self.text.append("" if tag in INLINE else " ")

    def handle_data(self, data):
        if self.inside == "script" and data.startswith('{"plots"'):
            self.plots = json.loads(data)["plots"]
        elif self.inside not in ("script", "style"):
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join("".join(self.text).split())


def read(folder) -> Reader:
    return Reader(page(read_results(folder.path)))


def test_the_verdict_table_stands_first(folder):
    words = read(folder).words
    assert words.index("mm UNDECIDED 1.0111 0.8573 to 1.1924 6 of 6 0.844 0.5 %") < words.index(
        "Ratios Points"
    )
    assert "softmax NO CODE CHANGE – – – – –" in words


def test_every_section_of_a_campaign_is_there(folder):
    words = read(folder).words
    assert "differs from ttir on (2 of 2 variants differ)" in words
    assert "mm: 3 keys, 3 near ties" in words
    assert "timer the same on all runs of both sides passed by 3 of 3 operators" in words
    assert "environment.variables.TRITON_F32_DEFAULT not set ieee declared (layer_norm, mm, softmax)" in words
    assert "the backend cpu told no clocks" in words
    assert "every run ended well and every row that was measured is compared" in words


def test_the_table_of_rows_says_why_its_ratio_is_no_quotient(folder):
    words = read(folder).words
    told = "A and B are medians over the rounds, so it is not their quotient"
    assert words.index("UNDECIDED", words.index("dtype size A, ms")) < words.index(told)


def test_interpreter_times_are_labelled_wherever_they_stand(folder):
    html = page(read_results(folder.path))
    assert "say nothing about a GPU" in html
    assert "A, ms (CPU interpreter)" in html
    assert '"title": "ms (CPU interpreter)"' in html


def test_plots_hold_the_ratios_and_the_latencies_by_round(folder):
    plots = read(folder).plots
    assert plots["overview"]["data"][0][0] == "mm"
    assert plots["overview"]["data"][0][1] == pytest.approx(1.01105738)
    assert len(plots["rows-0"]["data"]) == 3
    first = plots["round-0-0"]["data"]
    assert [point[0] for point in first] == [1, 2, 3, 4, 5, 6]
    assert len([name for name in plots if name.startswith("round-")]) == 3


def test_nothing_is_loaded_from_anywhere(folder):
    reader = read(folder)
    assert all(address.startswith(("#", "data:")) for address in reader.loads)
    assert not {"img", "iframe", "object", "embed", "base", "form"} & set(reader.tags)


def test_a_refused_operator_shows_its_reasons_and_no_number(folder):
    """Even though the tables beside it still hold the numbers of an earlier summary."""
    folder.refuse("timer: a r1=direct, b r1=cuda_graph")
    reader = read(folder)
    assert "timer: a r1=direct, b r1=cuda_graph" in reader.words
    assert "timer the same on all runs of both sides passed by 2 of 3 operators, failed by 1" in reader.words
    assert reader.plots == {}
    assert RATIO not in reader.words
    assert LATENCY not in reader.words
    assert not re.search(r"\bmm REFUSED [–\s]*\d", reader.words)


def test_a_refused_operator_that_carries_evidence_all_the_same_is_no_valid_summary(folder):
    folder.operator("mm", verdict="REFUSED")
    with pytest.raises(ReadError, match=r"verdicts\.json"):
        read_results(folder.path)


def test_a_released_mismatch_marks_every_number(folder):
    folder.release("timer: a r1=direct, b r1=cuda_graph")
    html = page(read_results(folder.path))
    cells = re.findall(
        r'<td class="n">([^<]*\d\.\d[^<]*)(<span class="released")?', html.split("<h2>Caliber")[0]
    )
    numbers = [(text, mark) for text, mark in cells if "%" not in text]
    assert len(numbers) >= 3 + 3 * 4
    assert all(mark for _, mark in numbers), numbers
    assert "Calibers released." in html
    assert all(line[0].startswith("⚠ ") for line in Reader(html).plots["rows-0"]["data"])


def test_one_side_alone_shows_statuses_and_speedups(folder):
    folder.one_sided()
    reader = read(folder)
    assert "mm ok 1.25 3 6" in reader.words
    assert "speedup over torch" in reader.words
    assert [name for name in reader.plots if name.startswith("round-0")]
    assert reader.plots["round-0-0"]["kind"] == "rounds-one"


def test_one_side_that_is_refused_shows_its_reasons_and_no_number(folder):
    folder.one_sided()
    operator = {"op": "mm", "verdict": "REFUSED", "detail": "", "reasons": ["x: y"], "refusals": ["x: y"]}
    more = {"exclusions": [], "hazards": [], "rows": [], "evidence": None, "note": "", "rounds_needed": None}
    folder.change("verdicts.json", lambda found: found.update(operators=[operator | more]))
    reader = read(folder)
    assert "x: y" in reader.words
    assert "mm ok – 0 6" in reader.words
    assert not [name for name in reader.plots if name.startswith("round-0")]


def test_compile_only_says_from_which_stage_the_code_differs(folder):
    detail = "the generated code differs from ttir on; nothing was measured"
    folder.operator("mm", evidence=None, rows=[], detail=detail, adjusted_p=None, rounds_needed=None)
    folder.change("receipt.json", lambda receipt: receipt["config"].update(measure=False))
    (folder.path / "ab.csv").write_text((folder.path / "ab.csv").read_text().splitlines()[0] + "\n")
    words = read(folder).words
    assert "Compile-only. Both sides were compiled and nothing was timed." in words
    assert "The generated code differs from ttir on; nothing was measured." in words
    assert "this campaign neither recorded nor replayed" in words


def test_a_failed_operator_is_named_with_its_status(folder):
    folder.refuse("status: b r1 failed: RuntimeError: boom")
    lines = folder.table("ops_status.csv")
    lines[1].update(status="failed", reason="RuntimeError: boom")
    folder.write_table("ops_status.csv", lines)
    words = read(folder).words
    assert "mm b failed RuntimeError: boom" in words
    assert "not asked of 1 whose runs failed" in words


def test_a_long_reason_stands_in_full_once_and_is_linked_elsewhere(folder):
    reason = f"RuntimeError: boom {'over and over ' * 20}to its end"
    folder.refuse(f"status: b r1 failed: {reason}")
    lines = folder.table("ops_status.csv")
    lines[1].update(status="failed", reason=reason)
    folder.write_table("ops_status.csv", lines)
    reader = read(folder)
    assert reader.words.count("to its end") == 1
    assert reader.words.count("RuntimeError: boom") == 5
    assert "In full: mm in detail." in reader.words
    assert reader.loads.count("#op-0") == 3


def test_a_long_reason_of_one_side_stands_in_full_once(folder):
    folder.one_sided()
    lines = folder.table("ops_status.csv")
    lines[0].update(status="failed", reason=f"RuntimeError: boom {'over and over ' * 20}to its end")
    folder.write_table("ops_status.csv", lines)
    words = read(folder).words
    assert (words.count("to its end"), words.count("RuntimeError: boom")) == (1, 3)


def test_an_adjustment_is_named_only_where_several_operators_were_judged(folder):
    told = {}
    for family in (0, 1, 3):
        folder.change("verdicts.json", lambda found, family=family: found.update(family=family))
        told[family] = "adjusted for the" in read(folder).words.split("Ratios Points")[0]
    assert told == {0: False, 1: False, 3: True}


def test_an_operator_without_a_tuner_has_nothing_to_pin(folder):
    shutil.rmtree(folder.path / "mm" / "pins")
    publish_pins(folder.path / "mm" / "pins", [], {"backend": "cpu"})
    assert "mm: no autotuned kernel was launched; nothing to pin" in read(folder).words


def test_a_void_campaign_says_so_before_anything_else(folder):
    folder.refuse("x")
    folder.operator("mm", verdict="VOID", refusals=[], reasons=["placebo alarm"])
    folder.change("verdicts.json", lambda found: found.update(void="placebo alarm: 3 of 3"))
    words = read(folder).words
    assert words.index("VOID. placebo alarm: 3 of 3") < words.index("Verdicts operator")


def test_static_cost_is_shown_where_the_gate_tells_it(folder):
    cost = {
        "a": {"registers": 32, "spills": 0, "local_bytes": None, "instructions": {"mma": 64, "memory": 8}},
        "b": {"registers": 40, "spills": 0, "local_bytes": 4, "instructions": {"memory": 8}},
        "change": {
            "registers": 8,
            "spills": 0,
            "local_bytes": None,
            "instructions": -64,
            "instructions.mma": -64,
        },
    }
    folder.change("mm/ir_gate.json", lambda gate: gate["variants"][0].update(cost=cost))
    words = read(folder).words
    assert "registers 32 to 40 (+8), " in words
    assert "spills 0" in words
    assert "local_bytes unknown to 4 (unknown)" in words
    assert "instructions.mma 64 to 0 (-64)" in words


def test_kernels_without_a_counterpart_are_named_where_nothing_was_compared(folder):
    told = "no kernel of either side has a counterpart on the other: a compiled x; b compiled y"
    counts = {"compared": 0, "identical": 0, "different": 0, "only_in_a": 1, "only_in_b": 1}
    folder.change("mm/ir_gate.json", lambda gate: gate.update(reason=told, first_stage=None, counts=counts))
    words = read(folder).words
    assert f"mm: differs: {told}" in words
    assert "0 of 0" not in words


def test_conditions_are_ranges_by_operator_and_side(folder):
    rows = [
        {"sm_clock_mhz": 1980, "temperature_c": 40, "power_w": 300.5, "throttle_reasons": ["gpu_idle"]},
        {"sm_clock_mhz": 1700, "throttle_reasons": ["sw_power_cap"], "other_processes": [7]},
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows) + "no json\n"
    (folder.path / "mm" / "a" / "r1" / "conditions.jsonl").write_text(text)
    assert "mm A 1700 to 1980 40 300.5 sw_power_cap in 1 1 of 2 2, 1 unreadable" in read(folder).words


def test_a_duet_keeps_its_conditions_beside_each_block(folder):
    folder.change("receipt.json", lambda receipt: receipt["config"].update(protocol="duet"))
    blocks = [{"place": 0, "conditions": {"sm_clock_mhz": clock}} for clock in (1500, 1600)]
    line = json.dumps({"seq": 0, "samples_ms": [1.0], "blocks": blocks}) + "\n"
    (folder.path / "mm" / "b" / "r1" / "samples.jsonl").write_text(line + '{"seq": 1}\n')
    assert "mm B 1500 to 1600 not told not told never never 2" in read(folder).words


def test_300_operators_make_a_page_of_a_few_mb(folder):
    def many(found):
        found["operators"] = [{**found["operators"][0], "op": f"op{number}"} for number in range(300)]

    folder.change("verdicts.json", many)
    folder.change(
        "receipt.json", lambda receipt: receipt["config"].update(ops=[f"op{n}" for n in range(300)])
    )
    lines = folder.table("ab.csv")
    folder.write_table("ab.csv", [line | {"op": f"op{n}"} for n in range(300) for line in lines])
    html = page(read_results(folder.path))
    assert len(html) < 6_000_000
    plots = Reader(html).plots
    assert len(plots["overview"]["data"]) == 60
    assert "60 of 300: those furthest from 1" in html


def test_the_same_campaign_makes_the_same_page(folder):
    write_report(folder.path)
    first = (folder.path / "report.html").read_bytes()
    write_report(folder.path)
    assert (folder.path / "report.html").read_bytes() == first


def test_a_folder_without_a_summary_is_a_read_error(tmp_path):
    with pytest.raises(ReadError, match="no summary"):
        write_report(tmp_path)
