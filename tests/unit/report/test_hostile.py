"""Text from logs and tables that wants to be something else, in the page and in the Markdown."""

from __future__ import annotations

import re

import pytest

from zlbench_core.report import write_report
from zlbench_core.report.markdown import escaped, markdown
from zlbench_core.report.page import page
from zlbench_core.report.source import read_results

HTML = "<img src=x onerror=alert(1)></script><script>alert(2)</script><!--"
ANSI = "\x1b[31mred\x1b[0m \x07\x00\u202e right to left"
TABLE = "a | b\n| c `code` [link](javascript:alert(1)) <b> @team #1 https://evil.example ![x](y) **z**"


@pytest.fixture
def hostile(folder):
    """Hostile words wherever a log or a table can put some: reasons, sizes, kernels, keys, identities, notes."""
    folder.refuse(HTML, ANSI, TABLE)
    folder.operator("softmax", hazards=[HTML], exclusions=[ANSI])

    def spoil_gate(gate):
        gate.update(reason=HTML, verdict="unknown")
        gate["variants"][0].update(kernel=HTML, differing=[ANSI])

    folder.change("softmax/ir_gate.json", spoil_gate)
    folder.change("mm/a/r1/run_identity.json", lambda identity: identity.update(test_node=HTML + ANSI))
    lines = folder.table("ops_status.csv")
    lines[0].update(status="failed", reason=HTML)
    folder.write_table("ops_status.csv", lines)
    return folder


def test_nothing_in_the_page_becomes_an_element(hostile):
    html = page(read_results(hostile.path))
    shown = re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)
    assert "<img" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;&lt;/script&gt;" in shown
    assert shown.count("<script") == 1, "the plots' data alone"
    assert "<!--" not in shown
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown)
    assert r"\x1b[31mred" in shown


def test_hostile_sizes_end_neither_a_table_nor_the_plots_data(folder):
    def spoil(found):
        found["operators"][0]["rows"][0]["size"] = HTML

    folder.change("verdicts.json", spoil)
    html = page(read_results(folder.path))
    data = html.partition('<script type="application/json" id="plots">')[2].partition("</script>")[0]
    assert "\\u003c/script\\u003e" in data
    assert "<" not in data


def test_markdown_keeps_one_line_per_operator(hostile):
    text = markdown(read_results(hostile.path))
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 2 + 3
    for line in table:
        assert len(re.findall(r"(?<!\\)\|", line)) == 7, line


def test_markdown_shows_hostile_text_literally(hostile):
    text = markdown(read_results(hostile.path))
    allowed = {"<details>", "<summary>", "</summary>", "</details>"}
    assert set(re.findall(r"<[^>]*>", text)) <= allowed
    assert not re.search(r"(?<!\\)[`\[\]]", text)
    assert "@team" not in text
    assert "https://" not in text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e]", text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("`x`", r"\`x\`"),
        ("one\ntwo", r"one\\ntwo"),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
        ("# head", r"\# head"),
        ("x" * 500, "x" * 237 + "..."),
    ],
)
def test_escapes(text, shown):
    assert escaped(text) == shown


def test_a_log_of_100_mb_without_a_newline_is_no_matter(folder):
    """Of a campaign with one side the rows are read from the runs: such a log gives none, and the page stands."""
    folder.one_sided()
    run = folder.path / "mm" / "a" / "r1"
    with open(run / "run.log", "wb") as stream:
        stream.truncate(100 << 20)
    files, stale = write_report(folder.path)
    assert len(files) == 5
    assert stale == ["changed since the summary was made: mm/a/r1/run.log"]
    assert files[0].stat().st_size < 4_000_000
