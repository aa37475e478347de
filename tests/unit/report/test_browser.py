"""The page in a real browser: plots drawn, nothing asked of the network, nothing sticking out.

Its screenshots lie below pytest's temporary folder: `--basetemp` chooses where.
"""

from __future__ import annotations

import base64
import json
import struct

import pytest

from zlbench_core.report import write_report

MARKS = "document.querySelectorAll('[data-plot] svg .mark-symbol.role-mark path')"
ALL_DRAWN = (
    "[...document.querySelectorAll('[data-plot]')].every((one) => one.querySelector('svg .mark-symbol path'))"
)
COLOUR = "getComputedStyle(document.querySelector('[data-plot] svg .mark-text text')).fill"

HIDDEN = (  # by table, how many of its pixels its box does not show
    "JSON.stringify([...document.querySelectorAll('.box')]"
    ".map((one) => [one.ariaLabel, one.scrollWidth - one.clientWidth]))"
)


@pytest.fixture
def opened(folder, tab):
    """Opens the report, scrolls through all of it, and waits until its plots are there."""
    write_report(folder.path)

    def open_page(**how):
        tab.open(folder.path / "report.html", **how)
        tab.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        tab.value("document.querySelectorAll('[data-plot]').forEach((one) => one.scrollIntoView())")
        tab.resize(how.get("width", 1200), min(20_000, tab.value("document.documentElement.scrollHeight")))
        tab.wait_for(ALL_DRAWN)
        return tab

    return open_page


def test_plots_are_drawn_with_their_marks_and_print(opened):
    tab = opened(dark=True)
    assert tab.value("document.querySelectorAll('[data-plot] svg').length") == 5
    assert tab.value(f"{MARKS}.length") == 1 + 3 + 3 * 12
    assert base64.b64decode(tab.ask("Page.printToPDF")["data"]).startswith(b"%PDF")


@pytest.mark.parametrize(("width", "dark"), [(1200, True), (400, False), (400, True)])
def test_it_is_quiet_sticks_out_nowhere_and_follows_the_scheme(opened, folder, tmp_path, width, dark):
    tab = opened(width=width, dark=dark)
    assert tab.complaints() == []
    assert tab.requests() == [(folder.path / "report.html").as_uri()]
    assert tab.value("document.documentElement.scrollWidth") <= width
    wide = "[...document.querySelectorAll('[data-plot] svg')].filter((one) => one.clientWidth > innerWidth).length"
    assert tab.value(wide) == 0
    light_text = int(tab.value(COLOUR).removeprefix("rgb(").split(",")[0]) > 128
    light_paper = (
        int(tab.value("getComputedStyle(document.body).backgroundColor").split("(")[1].split(",")[0]) > 128
    )
    assert (light_text, light_paper) == (dark, not dark)
    picture = tmp_path / f"report-{width}-{'dark' if dark else 'light'}.png"
    tab.screenshot(picture)
    assert struct.unpack(">I", picture.read_bytes()[16:20])[0] == width


def test_tables_fit_a_usual_window_and_scroll_in_their_own_box_in_a_narrow_one(opened):
    wide = dict(json.loads(opened().value(HIDDEN)))
    assert len(wide) == 10
    assert not any(wide.values()), wide
    narrow = dict(json.loads(opened(width=400).value(HIDDEN)))
    assert narrow["Rows of mm"] > 100


def test_plots_of_a_folded_operator_are_drawn_when_it_is_opened(folder, tab):
    write_report(folder.path)
    page = folder.path / "report.html"
    page.write_text(page.read_text().replace('<details id="op-0" open>', '<details id="op-0">'))
    tab.open(page)
    tab.wait_for("document.querySelector('[data-plot=overview] svg .mark-symbol path')")
    assert tab.value("document.querySelectorAll('#op-0 svg').length") == 0
    tab.value("document.querySelector('a[href=\"#op-0\"]').click()")
    tab.wait_for("document.querySelector('#op-0 svg .mark-symbol path')")


def test_hostile_words_run_nothing(folder, tab):
    folder.refuse("</script><script>window.owned = 1</script><img src=x onerror='window.owned = 1'>")
    write_report(folder.path)
    tab.open(folder.path / "report.html")
    assert tab.value("window.owned") is None
    assert tab.complaints() == []
