"""What both sides ran with stands on top: what the runs recorded, and nothing that a campaign only says."""

from __future__ import annotations

import json

from zlbench_core.judge.headline import headline, read_headline
from zlbench_core.judge.show import show_campaign, told_verdict, verdict_lines
from zlbench_core.report.markdown import markdown
from zlbench_core.report.page import page
from zlbench_core.report.source import read_results

COMMITS = ("1234567890abcdef1234567890abcdef12345678", "fedcba0987654321fedcba0987654321fedcba09")


def identity(commit: str = COMMITS[0], **environment) -> dict:
    known = {"triton": "3.6.0", "torch": "2.13.0", "python": "3.12.3", "variables": {}}
    return {
        "backend": "cuda",
        "device": "NVIDIA H200",
        "driver": "580.159.04",
        "provider": "flaggems",
        "provider_commit": commit,
        "environment": {**known, **environment},
    }


def test_what_differs_is_said_of_both_sides_and_what_is_equal_once():
    found = headline([("a", identity()), ("b", identity(triton="3.9.0")), ("a", identity())])
    assert found.parts == {
        "a -> b": ("triton 3.6.0 -> 3.9.0",),
        "both": ("torch 2.13.0", "python 3.12.3", "flaggems commit 1234567890ab", "driver 580.159.04"),
    }


def test_commits_variables_and_whatever_else_differs_are_told():
    other = identity(COMMITS[1], triton_build="b" * 16, variables={"X": "1"})
    assert headline([("a", identity()), ("b", other)]).differing == (
        "flaggems commit 1234567890ab -> fedcba098765",
        f"triton_build not set -> {'b' * 16}",
        "X not set -> 1",
    )


def test_rounds_of_a_side_that_ran_with_two_versions_show_both():
    runs = [("a", identity()), ("b", identity()), ("b", identity(torch="2.14.0"))]
    assert headline(runs).differing == ("torch 2.13.0 -> 2.13.0 and 2.14.0",)


def test_one_side_alone_differs_from_nothing():
    assert list(headline([("a", identity())]).parts) == ["with"]


def test_nothing_is_told_without_runs_and_without_a_receipt(tmp_path):
    assert headline([]).parts == {}
    assert read_headline(tmp_path).parts == {}


def test_the_same_facts_stand_in_the_terminal_the_summary_and_the_report(finished_once):
    shown, results = show_campaign(finished_once), read_results(finished_once)
    parts = read_headline(finished_once).parts
    assert parts["a -> b"] == ("TRITON_F32_DEFAULT not set -> ieee",)
    assert "triton 3.6.0" in parts["both"]
    text, html = markdown(results).replace("\\", "").replace("&gt;", ">"), page(results).replace("&gt;", ">")
    for name, facts in parts.items():
        assert f"\n{name}: {', '.join(facts)}\n" in shown
        assert f"\n- {name}: {', '.join(facts)}\n" in text
        assert f'<dt>{name}</dt><dd class="code">{", ".join(facts)}</dd>' in html


def test_same_names_its_margin_and_every_interval_its_level(finished_once):
    shown, results = show_campaign(finished_once), read_results(finished_once)
    html = page(results)
    assert "SAME within 2 %" in shown
    assert "**SAME** within 2 %" in markdown(results)
    assert ">SAME within 2 %</td>" in html
    for text in (shown, markdown(results), html):
        assert "95 % interval" in text
    assert "The 90 % interval of the equivalence test" in html


def test_the_level_is_the_campaigns(finished_once):
    found = json.loads((finished_once / "verdicts.json").read_text())
    assert "99 % interval" in verdict_lines({**found, "alpha": 0.01})[0]
    assert "99.95 % interval" in verdict_lines({**found, "alpha": 0.0005})[0]
    assert told_verdict({"verdict": "SAME", "evidence": {"delta": 0.005}}) == "SAME within 0.5 %"
    assert told_verdict({"verdict": "SAME", "delta": 0.1, "ratio": 1.0}) == "SAME within 10 %"
